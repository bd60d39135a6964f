package serverbench

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

// A floor finds bytes by path and writes them. It reads the body of a write, keeps nothing, answers with
// the object and tells watchers.
type floor struct {
	byPath map[string][]byte
	object []byte
	event  []byte

	lock     sync.Mutex
	written  map[string]map[string]bool // paths of objects, by that of their collection
	watchers map[chan []byte]bool
}

func newFloor(sample Sample) *floor {
	f := &floor{byPath: map[string][]byte{}, object: sample.Object, written: map[string]map[string]bool{}, watchers: map[chan []byte]bool{}}
	for i := range listed {
		f.byPath[listedPlace(i).path()] = []byte(string(sample.Object)) // in memory of its own, as a server has it
	}
	f.byPath[listedPlace(0).collection()] = sample.List
	f.event = fmt.Appendf(nil, `{"type":"MODIFIED","object":%s}`+"\n", strings.TrimSpace(string(sample.Object)))
	return f
}

func (f *floor) listen() (floorAddress, error) {
	certificate, authority, err := selfSigned()
	if err != nil {
		return floorAddress{}, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return floorAddress{}, err
	}
	server := &http.Server{
		Handler:   f,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}},
		ErrorLog:  log.New(io.Discard, "", 0), // clients come and go
	}
	go func() { log.Print(server.ServeTLS(listener, "", "")) }() // until the process ends
	return floorAddress{URL: "https://" + listener.Addr().String(), Authority: authority}, nil
}

// ServeHTTP implements http.Handler.
func (f *floor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.Method != http.MethodGet {
		_, _ = io.Copy(io.Discard, r.Body) // a client that gave up needs no answer
		write(w, f.object)
		f.broadcast(r.URL.Path)
		return
	}
	if r.URL.RawQuery == watchQuery {
		f.watch(w, r)
		return
	}
	body, ok := f.byPath[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	write(w, body)
}

func write(w http.ResponseWriter, body []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // a client that gave up needs no answer
}

// broadcast tells watchers that an object was written.
func (f *floor) broadcast(object string) {
	collection := path.Dir(object)
	f.lock.Lock()
	defer f.lock.Unlock()
	if f.written[collection] == nil {
		f.written[collection] = map[string]bool{}
	}
	f.written[collection][object] = true
	for w := range f.watchers {
		w <- f.event
	}
}

// watch sends an event for each object that was written, and then those that are broadcast, as many at once as
// there are.
func (f *floor) watch(w http.ResponseWriter, r *http.Request) {
	const room = 16 // for those whose turn comes late
	events := make(chan []byte, room)
	f.lock.Lock()
	f.watchers[events] = true
	there := len(f.written[r.URL.Path])
	f.lock.Unlock()
	defer f.forget(events)
	flusher := http.NewResponseController(w)
	for event := bytes.Repeat(f.event, there); ; {
		if _, err := w.Write(event); err != nil {
			return
		}
		select {
		case event = <-events:
			continue
		default:
		}
		if flusher.Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case event = <-events:
		}
	}
}

// forget lets a watcher go, while others may be waiting to tell it something.
func (f *floor) forget(events chan []byte) {
	gone := make(chan struct{})
	go func() {
		f.lock.Lock()
		delete(f.watchers, events)
		f.lock.Unlock()
		close(gone)
	}()
	for {
		select {
		case <-events:
		case <-gone:
			return
		}
	}
}
