package applytest

import "testing"

const appliesOnce = "It works.\n-- step --\nAPPLY configmaps/shared as alice\n\n{metadata: {name: shared}}\n-- answer --\n"

// TestBusy: a server that says when to come back is asked again, with the same; one that does not, or always says so,
// is not.
func TestBusy(t *testing.T) {
	const busy = "Retry-After: 0\n429 {}"
	for _, test := range []struct {
		name     string
		answers  []string
		want     string
		requests int
	}{
		{"for a while", []string{busy, busy, made}, "201", 3},
		{"without end", []string{busy}, "429", busyTries},
		{"without saying for how long", []string{"429 {}", made}, "429", 1},
		{"for longer than anybody waits", []string{"Retry-After: 99999\n429 {}", made}, "429", 1},
		{"until a moment that we do not read", []string{"Retry-After: Mon, 16 Nov 2026 00:00:00 GMT\n429 {}", made}, "429", 1},
		{"and gone with another code", []string{"Retry-After: 0\n503 {}", made}, "503", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFake(t, test.answers...)
			if result := f.run(t, appliesOnce+test.want+"\n"); result.Outcome != Pass {
				t.Errorf("received %+v", result)
			}
			if len(f.requests) != test.requests {
				t.Errorf("asked %d times, expected %d", len(f.requests), test.requests)
			}
			for _, request := range f.requests {
				if request != f.requests[0] {
					t.Errorf("asked another thing: %s", request)
				}
			}
		})
	}
}
