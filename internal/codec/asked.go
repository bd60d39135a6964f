package codec

import "sync"

// question is what a format depends on.
type question struct {
	accept   string
	endpoint Endpoint
}

// formats remembers what headers ask for: there are few that clients send, and they send them with every
// request.
type formats struct {
	mu    sync.RWMutex
	known map[question]Format
}

const (
	// mostFormats and longestHeader are what is remembered at most: headers come from anybody, and must not fill
	// the memory.
	mostFormats   = 512
	longestHeader = 1 << 10
)

var answered formats

func (f *formats) find(q question) (Format, bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	format, ok := f.known[q]
	return format, ok
}

func (f *formats) add(q question, format Format) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.known) >= mostFormats || len(q.accept) > longestHeader {
		return
	}
	if f.known == nil {
		f.known = map[question]Format{}
	}
	f.known[q] = format
}
