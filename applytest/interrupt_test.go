package applytest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

const made = `201 {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"shared","uid":"1"}}`

// TestInterrupt checks that a canceled run deletes its objects, including the objects of the request in flight, and
// that the interrupted script has no result.
func TestInterrupt(t *testing.T) {
	for name, during := range map[string]int{"while it is made": 1, "later": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := startFakeServer(t, made, shared)
			options := f.options("It works.\n-- step --\nAPPLY configmaps/shared as alice\n\n{}\n-- later --\nGET configmaps/shared\n-- last --\nWAIT 1h\n")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			f.onRequest = func(n int) {
				if n == during {
					cancel()
					time.Sleep(50 * time.Millisecond) // simulates a slow server: the request is still in flight after the interrupt
				}
			}
			report, err := Run(ctx, options)
			if !errors.Is(err, context.Canceled) || len(report.Results) != 0 || report.Scripts != 1 || report.Stopped != "interrupted" {
				t.Errorf("Run() = %v, %+v, want context.Canceled, no result and Stopped \"interrupted\"", err, report)
			}
			if len(f.requests) != during {
				t.Errorf("requests = %q, want none after the interrupt", f.requests)
			}
			if len(f.removed) < 2 || !strings.HasSuffix(f.removed[0], "/configmaps/shared") || !strings.HasPrefix(f.removed[1], "/api/v1/namespaces/applytest-") {
				t.Errorf("deleted %q, want the object and its namespace", f.removed)
			}
		})
	}
}

// TestServerGone checks that, if the server stops responding, Run returns an error and its report contains no failed
// scripts.
func TestServerGone(t *testing.T) {
	f := startFakeServer(t, made)
	f.onRequest = func(int) { f.stop() }
	options := f.options("It works.\n-- step --\nAPPLY configmaps/shared as alice\n\n{}\n-- answer --\n201\n-- later --\nGET configmaps/shared\n")
	report, err := Run(t.Context(), options)
	if err == nil || !strings.HasPrefix(err.Error(), "the server no longer responds: ") || len(report.Results) != 0 || report.Stopped != err.Error() {
		t.Errorf("Run() = %v, %+v, want the error \"the server no longer responds\" and no result", err, report)
	}
	if len(report.Leftovers) != 2 || !strings.HasPrefix(report.Leftovers[0].Path, "/api/v1/namespaces/applytest-") || !strings.Contains(report.Leftovers[0].Reason, "refused") {
		t.Errorf("Leftovers = %v, want the namespaces of the script and of the runner", report.Leftovers)
	}
}

// TestServerErrorInGivenNamespace checks that, with Options.Namespace, an object that was possibly created despite a 500
// response is deleted, and the namespace is not.
func TestServerErrorInGivenNamespace(t *testing.T) {
	f := startFakeServer(t, "200 {}", "200 {}", "500 {}") // the namespace exists and is empty; the script's request fails
	options := f.options("It works.\n-- step --\nAPPLY configmaps/shared as alice\n\n{}\n-- answer --\n201\n")
	options.Namespace = "applytest-given"
	report, err := Run(t.Context(), options)
	if err != nil || report.Count(Fail) != 1 || len(report.Leftovers) != 0 {
		t.Errorf("Run() = %v, %+v, want one failed script and no leftovers", err, report)
	}
	if want := []string{namespacePath + "applytest-given/configmaps/shared"}; !slices.Equal(f.removed, want) {
		t.Errorf("deleted %q, want %q", f.removed, want)
	}
}

// TestServerErrorWithGeneratedName checks that after a 500 response to a request with generateName, only objects with that
// prefix are deleted.
func TestServerErrorWithGeneratedName(t *testing.T) {
	const all = `200 {"items":[{"metadata":{"name":"web-x"}},{"metadata":{"name":"other"}}]}`
	f := startFakeServer(t, "200 {}", "200 {}", "500 {}", all)
	options := f.options("It works.\n-- step --\nCREATE configmaps\n\n{metadata: {generateName: web-}}\n-- answer --\n201\n")
	options.Namespace = "applytest-given"
	report, err := Run(t.Context(), options)
	if err != nil || report.Count(Fail) != 1 {
		t.Errorf("Run() = %v, %+v, want one failed script", err, report)
	}
	if want := []string{namespacePath + "applytest-given/configmaps/web-x"}; !slices.Equal(f.removed, want) {
		t.Errorf("deleted %q, want %q", f.removed, want)
	}
}

// TestInterruptedProbes checks that a canceled run deletes the object with which it probes for a garbage collector.
func TestInterruptedProbes(t *testing.T) {
	const garbage = `201 {"metadata":{"name":"applytest-garbage-x"}}`
	f := startFakeServer(t, "200 {}", "200 {}", garbage, shared) // the namespace exists and is empty; the probe object is created and not garbage collected
	options := f.options("It works.\nneeds: garbage collection\n-- step --\nGET configmaps/shared\n")
	options.Namespace = "applytest-given"
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f.onRequest = func(n int) {
		if n == 4 {
			cancel()
		}
	}
	if _, err := Run(ctx, options); !errors.Is(err, context.Canceled) {
		t.Errorf("Run() = %v, want context.Canceled", err)
	}
	if want := []string{namespacePath + "applytest-given/configmaps/applytest-garbage-x"}; !slices.Equal(f.removed, want) {
		t.Errorf("deleted %q, want %q", f.removed, want)
	}
}
