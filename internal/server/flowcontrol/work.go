package flowcontrol

import "time"

// The estimate of work, as in Kubernetes.
const (
	bytesPerSeat   = 100_000
	maxListBytes   = 1_000_000 // lists are sent in chunks, so that a longer list does not need more memory
	maxWriteSeats  = 10
	watchesPerSeat = 10
	// eventDuration is the time for which a seat is occupied after a write, for each watchesPerSeat watches.
	eventDuration = 5 * time.Millisecond
	// serviceEstimate is the estimated duration of a request, in seconds, until its end.
	serviceEstimate = 0.003
)

// work is the estimate of the work of a request.
type work struct {
	initial, final int           // seats during the request, and afterwards
	latency        time.Duration // the time for which the final seats are occupied
}

// seats returns the number of seats that are reserved from the dispatch on.
func (w work) seats() int { return max(w.initial, w.final) }

// total returns the estimated work in seat-seconds.
func (w work) total() float64 {
	return float64(w.initial)*serviceEstimate + float64(w.final)*w.latency.Seconds()
}

// estimate returns the work of a request that may occupy maxSeats seats. watchers is the number of watches that a write concerns.
func estimate(r *Request, watchers, maxSeats int) work {
	switch {
	case r.ResponseBytes > 0:
		seats := (min(r.ResponseBytes, maxListBytes) + bytesPerSeat - 1) / bytesPerSeat
		return work{initial: max(1, min(seats, maxSeats))}
	case watchers >= watchesPerSeat:
		seats := (watchers + watchesPerSeat - 1) / watchesPerSeat
		total := time.Duration(seats) * eventDuration
		seats = max(1, min(seats, maxWriteSeats, maxSeats))
		return work{initial: 1, final: seats, latency: total / time.Duration(seats)}
	}
	return work{initial: 1}
}

// watchers returns the number of watches that a write concerns, and 0 for other requests.
func (c *Controller) watchers(r *Request) int {
	switch r.Verb {
	case "create", "update", "patch", "delete":
		if r.Resource != "serviceaccounts" || r.Subresource != "token" { // a token has no events
			return c.watches.interested(r)
		}
	}
	return 0
}
