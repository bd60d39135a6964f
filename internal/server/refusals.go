package server

import (
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

const (
	// refusalPeriod is the period in which at most maxRefusals refused credentials of a source are logged.
	refusalPeriod = 10 * time.Second
	maxRefusals   = 5
	// maxSources is the maximum number of sources that are distinguished. All further ones share one limit.
	maxSources = 1024
)

// refusals logs refused credentials, with a limit per source, so that clients without credentials cannot fill the log. A source is an IPv4
// address or the /64 network of an IPv6 address. It is safe for concurrent use.
type refusals struct {
	logger *slog.Logger

	mu sync.Mutex
	// sources has at most maxSources entries and one for all other sources, whose prefix is invalid.
	sources map[netip.Prefix]*refusalCount
}

// refusalCount counts the refused credentials of a source in the current period.
type refusalCount struct{ logged, suppressed int }

// log logs a refused request, or counts it if its source has reached the limit. When the period of the source ends, the count is
// logged.
func (r *refusals) log(q *http.Request, err error) {
	if !r.admit(sourceOf(q.RemoteAddr)) {
		return
	}
	r.logger.Warn("authentication failed", "address", q.RemoteAddr, "method", q.Method, "path", q.URL.Path, "error", err)
}

// admit counts a refused request, and reports whether it is within the limit of its source.
func (r *refusals) admit(source netip.Prefix) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sources == nil {
		r.sources = map[netip.Prefix]*refusalCount{}
	}
	if r.sources[source] == nil && len(r.sources) >= maxSources {
		source = netip.Prefix{}
	}
	count := r.sources[source]
	if count == nil {
		count = &refusalCount{}
		r.sources[source] = count
		time.AfterFunc(refusalPeriod, func() { r.endPeriod(source) })
	}
	if count.logged >= maxRefusals {
		count.suppressed++
		return false
	}
	count.logged++
	return true
}

// endPeriod ends the period of a source, and logs how many refused requests were not logged.
func (r *refusals) endPeriod(source netip.Prefix) {
	r.mu.Lock()
	suppressed := r.sources[source].suppressed
	delete(r.sources, source)
	r.mu.Unlock()
	if suppressed == 0 {
		return
	}
	name := "further addresses"
	if source.IsValid() {
		name = source.String()
	}
	r.logger.Warn("authentication failed; requests were not logged", "source", name, "suppressed", suppressed, "period", refusalPeriod)
}

// sourceOf returns the source of a request from its remote address; the invalid prefix if the address is not an IP address.
func sourceOf(remote string) netip.Prefix {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		return netip.Prefix{}
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Prefix{}
	}
	address = address.Unmap().WithZone("")
	bits := 32
	if address.Is6() {
		bits = 64
	}
	prefix, _ := address.Prefix(bits)
	return prefix
}
