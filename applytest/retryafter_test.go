package applytest

import "testing"

const applyScript = "It works.\n-- step --\nAPPLY configmaps/shared as alice\n\n{metadata: {name: shared}}\n-- answer --\n"

// TestRetryAfter checks that a request is sent again after a 429 response with Retry-After, at most maxAttempts times
// in total, and is not sent again after a 429 response without Retry-After.
func TestRetryAfter(t *testing.T) {
	const busy = "Retry-After: 0\n429 {}"
	for _, test := range []struct {
		name      string
		responses []string
		want      string
		requests  int
	}{
		{"for a while", []string{busy, busy, made}, "201", 3},
		{"without end", []string{busy}, "429", maxAttempts},
		{"without saying for how long", []string{"429 {}", made}, "429", 1},
		{"for longer than anybody waits", []string{"Retry-After: 99999\n429 {}", made}, "429", 1},
		{"until a moment that we do not read", []string{"Retry-After: Mon, 16 Nov 2026 00:00:00 GMT\n429 {}", made}, "429", 1},
		{"and gone with another code", []string{"Retry-After: 0\n503 {}", made}, "503", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := startFakeServer(t, test.responses...)
			if result := f.run(t, applyScript+test.want+"\n"); result.Outcome != Pass {
				t.Errorf("result = %+v, want the outcome of the last response", result)
			}
			if len(f.requests) != test.requests {
				t.Errorf("%d requests were sent, want %d", len(f.requests), test.requests)
			}
			for _, request := range f.requests {
				if request != f.requests[0] {
					t.Errorf("retried request = %s, want the first request", request)
				}
			}
		})
	}
}
