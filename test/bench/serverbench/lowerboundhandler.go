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
	"sync"
)

// lowerBound is the handler of the lower bound: it returns the sampled bytes of a path. For a write it reads the body,
// stores nothing, returns the sampled object, and sends an event to all watchers.
type lowerBound struct {
	answers map[responseKey][]byte
	events  map[responseKey][]byte // events by the path of the collection and the Accept header; other watches receive the field event
	object  []byte
	event   []byte

	lock     sync.Mutex
	written  map[string]map[string]bool // written maps the path of a collection to the paths of the objects that were written
	watchers map[chan []byte][]byte     // watchers maps a watcher to the event that it receives
}

// responseKey identifies a response by the path and the Accept header of the request.
type responseKey struct{ path, accept string }

func newLowerBound(sample Sample) *lowerBound {
	f := &lowerBound{
		answers: map[responseKey][]byte{}, events: map[responseKey][]byte{}, object: sample.Object, event: modified(sample.Object),
		written: map[string]map[string]bool{}, watchers: map[chan []byte][]byte{},
	}
	f.add(listedKey, listed, jsonType, sample.Object, sample.List)
	for _, m := range sample.ManagedObjects {
		f.add(m.key, m.Objects, m.Accept(), m.Object, m.List)
		f.events[responseKey{m.key(0).collection(), m.Accept()}] = modified(m.Object)
	}
	return f
}

// add adds the responses to a get of each of count objects, and to a list of them.
func (f *lowerBound) add(at func(int) objectKey, count int, accept string, object, list []byte) {
	for i := range count {
		f.answers[responseKey{at(i).path(), accept}] = bytes.Clone(object) // separate memory per object, as in an API server
	}
	f.answers[responseKey{at(0).collection(), accept}] = list
}

// modified returns the MODIFIED event of an object in JSON. Watches in other media types are not supported.
func modified(object []byte) []byte {
	return fmt.Appendf(nil, `{"type":"MODIFIED","object":%s}`+"\n", bytes.TrimSpace(object))
}

func (f *lowerBound) listen() (lowerBoundAddress, error) {
	certificate, authority, err := selfSigned()
	if err != nil {
		return lowerBoundAddress{}, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return lowerBoundAddress{}, err
	}
	server := &http.Server{
		Handler:   f,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}},
		ErrorLog:  log.New(io.Discard, "", 0), // connections that clients close are not errors
	}
	go func() { log.Print(server.ServeTLS(listener, "", "")) }() // the server runs until the process ends
	return lowerBoundAddress{URL: "https://" + listener.Addr().String(), Authority: authority}, nil
}

// ServeHTTP implements http.Handler.
func (f *lowerBound) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.Method != http.MethodGet {
		_, _ = io.Copy(io.Discard, r.Body) // an error means that the client closed the connection
		answer(w, f.object)
		f.broadcast(r.URL.Path)
		return
	}
	if r.URL.RawQuery == watchQuery {
		f.watch(w, r)
		return
	}
	body, ok := f.answers[responseKey{r.URL.Path, r.Header.Get("Accept")}]
	if !ok {
		http.NotFound(w, r)
		return
	}
	answer(w, body)
}

func answer(w http.ResponseWriter, body []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // an error means that the client closed the connection
}

// broadcast sends the event for a written object to all watchers.
func (f *lowerBound) broadcast(object string) {
	collection := path.Dir(object)
	f.lock.Lock()
	defer f.lock.Unlock()
	if f.written[collection] == nil {
		f.written[collection] = map[string]bool{}
	}
	f.written[collection][object] = true
	for w, event := range f.watchers {
		w <- event
	}
}

// watch sends an event for each object of the collection that was written earlier, and then the events of later writes.
// Pending events are sent with one flush.
func (f *lowerBound) watch(w http.ResponseWriter, r *http.Request) {
	const capacity = 16 // the number of events that a slow watcher may have pending
	events := make(chan []byte, capacity)
	first, ok := f.events[responseKey{r.URL.Path, r.Header.Get("Accept")}]
	if !ok {
		first = f.event
	}
	f.lock.Lock()
	f.watchers[events] = first
	count := len(f.written[r.URL.Path])
	f.lock.Unlock()
	defer f.forget(events)
	flusher := http.NewResponseController(w)
	for event := bytes.Repeat(first, count); ; {
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

// forget removes a watcher. Until the watcher is removed, forget drains its channel, because broadcast may be blocked on
// it.
func (f *lowerBound) forget(events chan []byte) {
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
