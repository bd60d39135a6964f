package serverbench

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestAllocations checks that neither the allocations of reading the metric nor a single large allocation is attributed
// to the operations.
func TestAllocations(t *testing.T) {
	const perMetricsRead, perRequest, single = 5000, 300, 1 << 30
	var allocated, metricsReads atomic.Int64
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/metrics" {
			allocated.Add(perRequest)
			return
		}
		_, _ = fmt.Fprintf(w, "# HELP\ngo_memstats_alloc_bytes_total %d\n", allocated.Add(perMetricsRead))
		if metricsReads.Add(1) == 4 {
			allocated.Add(single)
		}
	})
	operation := do(func(*worker) Request { return Request{Method: "GET", Path: "/some"} })
	got, err := Load{Window: 10 * time.Millisecond}.allocations(t.Context(), s, operation)
	if err != nil || got != perRequest {
		t.Errorf("allocations() = %v, %v, want %d", got, err, perRequest)
	}
}

// TestAllocationsFail checks that allocations returns an error if the operation fails or the server lacks the metric.
func TestAllocationsFail(t *testing.T) {
	s := serve(t, func(http.ResponseWriter, *http.Request) {})
	nothing := func(context.Context, *worker) error { return nil }
	if _, err := (Load{}).allocations(t.Context(), s, nothing); err == nil || !strings.Contains(err.Error(), "no line of") {
		t.Errorf("allocations() = %v, want an error about the missing metric", err)
	}
	fails := func(context.Context, *worker) error { return io.ErrClosedPipe }
	if _, err := (Load{}).allocations(t.Context(), s, fails); err != io.ErrClosedPipe {
		t.Errorf("allocations() = %v, want the error of the operation", err)
	}
}
