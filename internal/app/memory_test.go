package app

import (
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/server"
)

// emptyContainers is a Pod of a million empty containers, which needs much more memory than its text.
var emptyContainers = sync.OnceValue(func() string {
	return `{"metadata":{"name":"p"},"spec":{"containers":[` + strings.TrimSuffix(strings.Repeat("{},", 990_000), ",") + `]}}`
})

// peakMemory returns the maximum growth of the heap, in bytes, during the call of run.
func peakMemory(run func()) uint64 {
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	done, peak := make(chan struct{}), make(chan uint64)
	go func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		var now runtime.MemStats
		most := before.HeapInuse
		for {
			select {
			case <-done:
				peak <- most - before.HeapInuse
				return
			case <-tick.C:
				runtime.ReadMemStats(&now)
				most = max(most, now.HeapInuse)
			}
		}
	}()
	run()
	close(done)
	return <-peak
}

// TestMemoryOfLargeBodies checks that concurrent bodies that exceed the memory budget are rejected, except one at a time, and
// that small bodies are processed meanwhile.
func TestMemoryOfLargeBodies(t *testing.T) {
	const budget = 256 << 20
	c := start(t, Config{Limits: server.Limits{MemoryBudget: budget}}, "hostile,hostile,1,\"system:masters\"", "polite,polite,2,\"system:masters\"")
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(2 * budget)) // as cadastre serve with --memory-limit does
	emptyContainers()
	hostile, polite := c.withToken("hostile"), c.withToken("polite")
	codes := make(chan int, 24)
	peak := peakMemory(func() {
		var running sync.WaitGroup
		for range cap(codes) {
			running.Go(func() {
				codes <- hostile.call("POST", "/api/v1/namespaces/default/pods", emptyContainers()).code
			})
		}
		for range 50 {
			polite.call("POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"generateName":"a"}}`).want(201)
		}
		running.Wait()
	})
	close(codes)
	count := map[int]int{}
	for code := range codes {
		count[code]++
	}
	if count[http.StatusTooManyRequests] == 0 || count[http.StatusRequestEntityTooLarge] == 0 || len(count) != 2 {
		t.Errorf("number of responses by code: got %v, want some 413, some 429 and no others", count)
	}
	if peak > 3*budget {
		t.Errorf("peak of the heap: got %d MiB, want at most %d MiB", peak>>20, 3*budget>>20)
	}
	c.call("POST", "/api/v1/namespaces/default/pods", emptyContainers()).want(413)
}

// TestAmplification checks the memory of single requests whose bodies need much more memory than their size.
func TestAmplification(t *testing.T) {
	c := start(t, Config{})
	const maxBytes = 350 << 20
	for name, query := range map[string]string{"create": "", "dry run": "?dryRun=All"} {
		if peak := peakMemory(func() { c.call("POST", "/api/v1/namespaces/default/pods"+query, emptyContainers()).want(413) }); peak > maxBytes {
			t.Errorf("%s of a million empty containers: peak of the heap %d MiB, want at most %d MiB", name, peak>>20, maxBytes>>20)
		}
	}
	c.call("POST", definitions, strings.ReplaceAll(strings.Replace(gadgets, `"size":{"type":"number"}`,
		`"size":{"type":"number"},"items":{"type":"array","items":{"type":"object","properties":{"a":{"type":"string","default":"`+strings.Repeat("x", 100_000)+`"}}}}`, 1), "gadget", "gizmo")).want(201)
	c.waitFor("/apis/example.com/v1/gizmos", 200)
	body := strings.Replace(gadget("g", `"items":[`+strings.TrimSuffix(strings.Repeat("{},", 100_000), ",")+`]`), "Gadget", "Gizmo", 1)
	if peak := peakMemory(func() { c.call("POST", "/apis/example.com/v1/gizmos", body).want(413) }); peak > maxBytes {
		t.Errorf("items with a large default: peak of the heap %d MiB, want at most %d MiB", peak>>20, maxBytes>>20)
	}
}
