package flowcontrol

import "sync"

// maxRetryAfter is the maximum value of Retry-After, in seconds.
const maxRetryAfter = 32

// rejections calculates the value of Retry-After from the rejections of the last seconds: it doubles while at least three
// requests per second are rejected, and decreases by one while less than one is. It is safe for concurrent use.
type rejections struct {
	mu      sync.Mutex
	second  int64         // the Unix time of the newest rejection
	history map[int64]int // rejections by Unix time
	seconds int           // the current value; 0 means 1
	updated int64         // the Unix time at which the value was doubled
}

// add counts a rejection, and returns the number of seconds after which the client should retry.
func (r *rejections) add(now int64) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.history == nil {
		r.history, r.seconds = map[int64]int{}, 1
	}
	if now != r.second {
		r.adjust(now)
		r.second = now
	}
	r.history[now]++
	return r.seconds
}

// adjust updates the value at the first rejection of a second.
func (r *rejections) adjust(now int64) {
	rejected := 0
	for second, n := range r.history {
		if now-second > 2*maxRetryAfter {
			delete(r.history, second)
		} else if now-second <= int64(r.seconds) {
			rejected += n
		}
	}
	switch {
	case rejected >= 3*r.seconds && now-r.updated >= int64(r.seconds):
		r.seconds, r.updated = min(2*r.seconds, maxRetryAfter), now
	case rejected < r.seconds && r.seconds > 1:
		r.seconds--
	}
}
