package builtin

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cadastre/cadastre/document"
)

// FuzzDecode checks that decoding and defaulting of arbitrary documents do not panic and are idempotent.
func FuzzDecode(f *testing.F) {
	kinds := []string{"core.v1.Pod", "core.v1.Service", "core.v1.Secret", "core.v1.Node", "core.v1.LimitRange", "apps.v1.StatefulSet",
		"batch.v1.Job", "autoscaling.v2.HorizontalPodAutoscaler", "resource.v1.ResourceSlice", "events.v1.Event"}
	for _, line := range goldenLines(f) {
		parts := strings.Split(line, "\t")
		if i := slices.Index(kinds, strings.TrimPrefix(parts[0], "io.k8s.api.")); i >= 0 {
			f.Add(uint8(i), parts[1])
		}
	}
	f.Fuzz(func(t *testing.T, number uint8, text string) {
		doc, err := document.ParseJSON([]byte(text))
		if err != nil {
			return
		}
		of := mustType(t, kinds[int(number)%len(kinds)])
		of.Default(doc)
		read, _, err := of.DecodeWith(doc, DecodeOptions{WholeFloats: true})
		if err == nil {
			requireIdempotent(t, of, of.Default(read))
		}
	})
}

// TestConcurrentDecode checks that decoding and defaulting are safe for concurrent use; run it with the race detector.
func TestConcurrentDecode(t *testing.T) {
	of, doc := deployment(t)
	want := of.Default(doc).JSON()
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 50 {
				read, _, err := of.Decode(doc)
				if got := of.Default(read).JSON(); err != nil || got != want {
					t.Errorf("concurrent Default(Decode()) = %v, %v, want %v", got, err, want)
				}
			}
		})
	}
	group.Wait()
}
