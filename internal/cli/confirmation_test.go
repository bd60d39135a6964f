package cli

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/internal/cli/cluster"
)

func TestConfirm(t *testing.T) {
	for answer, want := range map[string]bool{
		"y\n": true, "Yes\n": true, " y \r\n": true, "y": true,
		"": false, "\n": false, "n\n": false, "yes please\n": false, "yn\n": false,
	} {
		var output strings.Builder
		got, err := confirm(t.Context(), "Do it?", strings.NewReader(answer), &output)
		if err != nil || got != want {
			t.Errorf("confirm() with answer %q = %v, %v, want %v", answer, got, err, want)
		}
		if output.String() != "Do it? [y/N] " {
			t.Errorf("confirm() printed %q, want the question and [y/N]", output.String())
		}
	}
}

// TestConfirmStopsWithContext checks that the cancellation of the context, as by an interrupt, ends the prompt.
func TestConfirmStopsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	stdin, writer := io.Pipe()
	defer writer.Close()
	cancel()
	if _, err := confirm(ctx, "Do it?", stdin, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("confirm() = %v, want context.Canceled", err)
	}
}

// TestConfirmAfterPartialFailure checks that an object that fails in the preview is reported, and that the prompt asks about
// the remaining objects. If all fail, there is no prompt.
func TestConfirmAfterPartialFailure(t *testing.T) {
	f := failingFixture(t, 3, func() (*http.Response, error) { return nil, errors.New("unused") })
	listed := listObjects(t.Context(), f.cluster, []cluster.Kind{f.kind}, "default", "")
	oneFails := func(yield func(foundObject, error) bool) {
		for o, err := range listed {
			if o.target.name == "c2" {
				err = errors.New("managedFields are invalid")
			}
			if !yield(o, err) {
				return
			}
		}
	}
	for answer, want := range map[string]bool{"y\n": true, "n\n": false} {
		var output strings.Builder
		run, err := previewAndConfirm(t.Context(), f.run(), oneFails, strings.NewReader(answer), &output)
		if err != nil || run.write != want {
			t.Errorf("previewAndConfirm() with answer %q: write = %v, error = %v, want write = %v", answer, run.write, err, want)
		}
		for _, text := range []string{"configmap/c2 in default: failed: managedFields are invalid\n", "Migrate 2 objects and skip the 1 that failed? [y/N] "} {
			if !strings.Contains(output.String(), text) {
				t.Errorf("previewAndConfirm() did not print %q: %s", text, output.String())
			}
		}
	}
	allFail := func(yield func(foundObject, error) bool) {
		for o := range listed {
			if !yield(o, errors.New("managedFields are invalid")) {
				return
			}
		}
	}
	var output strings.Builder
	if run, err := previewAndConfirm(t.Context(), f.run(), allFail, strings.NewReader("y\n"), &output); err == nil || run.write || strings.Contains(output.String(), "[y/N]") {
		t.Errorf("previewAndConfirm(): write = %v, error = %v, want an error and no question; printed %s", run.write, err, output.String())
	}
}
