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

// TestInterrupt: when a run is interrupted, what it has made is removed all the same, also by a request that was under
// way. The script that was stopped has neither passed nor failed.
func TestInterrupt(t *testing.T) {
	for name, during := range map[string]int{"while it is made": 1, "later": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, made, shared)
			options := f.options("It works.\n-- step --\nAPPLY configmaps/shared as alice\n\n{}\n-- later --\nGET configmaps/shared\n-- last --\nWAIT 1h\n")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			f.asked = func(n int) {
				if n == during {
					cancel()
					time.Sleep(50 * time.Millisecond) // simulates a slow server: the request is under way after the interrupt
				}
			}
			report, err := Run(ctx, options)
			if !errors.Is(err, context.Canceled) || len(report.Results) != 0 || report.Scripts != 1 || report.Stopped != "interrupted" {
				t.Errorf("received %v, %+v", err, report)
			}
			if len(f.requests) != during {
				t.Errorf("received %q: asked on after the interrupt", f.requests)
			}
			if len(f.removed) < 2 || !strings.HasSuffix(f.removed[0], "/configmaps/shared") || !strings.HasPrefix(f.removed[1], "/api/v1/namespaces/applytest-") {
				t.Errorf("removed %q, want the object and its namespace", f.removed)
			}
		})
	}
}

// TestGone: when the server is gone, the run ends and says so; nothing has failed.
func TestGone(t *testing.T) {
	f := newFake(t, made)
	f.asked = func(int) { f.stop() }
	options := f.options("It works.\n-- step --\nAPPLY configmaps/shared as alice\n\n{}\n-- answer --\n201\n-- later --\nGET configmaps/shared\n")
	report, err := Run(t.Context(), options)
	if err == nil || !strings.HasPrefix(err.Error(), "the server is gone: ") || len(report.Results) != 0 || report.Stopped != err.Error() {
		t.Errorf("received %v, %+v", err, report)
	}
	if len(report.Leftovers) != 2 || !strings.HasPrefix(report.Leftovers[0].Path, "/api/v1/namespaces/applytest-") || !strings.Contains(report.Leftovers[0].Reason, "refused") {
		t.Errorf("left are %v, want the namespaces of the script and of the runner", report.Leftovers)
	}
}

// TestUnclearInGivenNamespace: a server that fails may have made what it was asked for. It is removed, the namespace is not.
func TestUnclearInGivenNamespace(t *testing.T) {
	f := newFake(t, "200 {}", "200 {}", "500 {}") // it is there, nothing is in it, and the script's request fails
	options := f.options("It works.\n-- step --\nAPPLY configmaps/shared as alice\n\n{}\n-- answer --\n201\n")
	options.Namespace = "applytest-given"
	report, err := Run(t.Context(), options)
	if err != nil || report.Count(Fail) != 1 || len(report.Leftovers) != 0 {
		t.Errorf("received %v, %+v", err, report)
	}
	if want := []string{namespacePath + "applytest-given/configmaps/shared"}; !slices.Equal(f.removed, want) {
		t.Errorf("removed %q, want %q", f.removed, want)
	}
}

// TestUnclearName: of what may have been made by a name that the server chooses, only that goes whose name begins so.
func TestUnclearName(t *testing.T) {
	const all = `200 {"items":[{"metadata":{"name":"web-x"}},{"metadata":{"name":"other"}}]}`
	f := newFake(t, "200 {}", "200 {}", "500 {}", all)
	options := f.options("It works.\n-- step --\nCREATE configmaps\n\n{metadata: {generateName: web-}}\n-- answer --\n201\n")
	options.Namespace = "applytest-given"
	report, err := Run(t.Context(), options)
	if err != nil || report.Count(Fail) != 1 {
		t.Errorf("received %v, %+v", err, report)
	}
	if want := []string{namespacePath + "applytest-given/configmaps/web-x"}; !slices.Equal(f.removed, want) {
		t.Errorf("removed %q, want %q", f.removed, want)
	}
}

// TestInterruptedTries: what is made to find out whether garbage is collected goes also when a run is interrupted.
func TestInterruptedTries(t *testing.T) {
	const garbage = `201 {"metadata":{"name":"applytest-garbage-x"}}`
	f := newFake(t, "200 {}", "200 {}", garbage, shared) // it is there, nothing is in it, the garbage is made, and stays
	options := f.options("It works.\nneeds: garbage collection\n-- step --\nGET configmaps/shared\n")
	options.Namespace = "applytest-given"
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f.asked = func(n int) {
		if n == 4 {
			cancel()
		}
	}
	if _, err := Run(ctx, options); !errors.Is(err, context.Canceled) {
		t.Errorf("received %v", err)
	}
	if want := []string{namespacePath + "applytest-given/configmaps/applytest-garbage-x"}; !slices.Equal(f.removed, want) {
		t.Errorf("removed %q, want %q", f.removed, want)
	}
}
