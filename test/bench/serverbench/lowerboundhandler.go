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

// lowerBound is the handler of the lower bound. For a read it returns the sampled response for the path. For a write it
// reads the body, stores nothing, returns the sampled object, and sends an event to all watchers.
type lowerBound struct {
	responses map[responseKey][]byte
	events    map[responseKey][]byte // events by the path of the collection and the Accept header; watches without an entry receive the field event
	object    []byte
	event     []byte

	lock     sync.Mutex
	written  map[string]map[string]bool // written maps the path of a collection to the paths of the objects that were written
	watchers map[chan []byte][]byte     // watchers maps a watcher to the event that it receives
}

// responseKey identifies a response by the path and the Accept header of the request.
type responseKey struct{ path, accept string }

func newLowerBound(sample Sample) *lowerBound {
	l := &lowerBound{
		responses: map[responseKey][]byte{}, events: map[responseKey][]byte{}, object: sample.Object, event: modifiedEvent(sample.Object),
		written: map[string]map[string]bool{}, watchers: map[chan []byte][]byte{},
	}
	l.add(listedKey, listed, jsonType, sample.Object, sample.List)
	for _, m := range sample.ManagedObjects {
		l.add(m.key, m.Objects, m.Accept(), m.Object, m.List)
		l.events[responseKey{m.key(0).collection(), m.Accept()}] = modifiedEvent(m.Object)
	}
	return l
}

// add adds the responses to a get of each of the objects at(0) to at(count-1), and to a list of them, for requests with
// the Accept header accept.
func (l *lowerBound) add(at func(int) objectKey, count int, accept string, object, list []byte) {
	for i := range count {
		l.responses[responseKey{at(i).path(), accept}] = bytes.Clone(object) // separate memory per object, as in an API server
	}
	l.responses[responseKey{at(0).collection(), accept}] = list
}

// modifiedEvent returns the MODIFIED event of an object in JSON. Watches in other media types are not supported.
func modifiedEvent(object []byte) []byte {
	return fmt.Appendf(nil, `{"type":"MODIFIED","object":%s}`+"\n", bytes.TrimSpace(object))
}

func (l *lowerBound) listen() (lowerBoundAddress, error) {
	certificate, authority, err := selfSigned()
	if err != nil {
		return lowerBoundAddress{}, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return lowerBoundAddress{}, err
	}
	server := &http.Server{
		Handler:   l,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}},
		ErrorLog:  log.New(io.Discard, "", 0), // connections that clients close are not errors
	}
	go func() { log.Print(server.ServeTLS(listener, "", "")) }() // the server runs until the process ends
	return lowerBoundAddress{URL: "https://" + listener.Addr().String(), Authority: authority}, nil
}

// ServeHTTP implements http.Handler.
func (l *lowerBound) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.Method != http.MethodGet {
		_, _ = io.Copy(io.Discard, r.Body) // an error means that the client closed the connection
		respond(w, l.object)
		l.broadcast(r.URL.Path)
		return
	}
	if r.URL.RawQuery == watchQuery {
		l.watch(w, r)
		return
	}
	body, ok := l.responses[responseKey{r.URL.Path, r.Header.Get("Accept")}]
	if !ok {
		http.NotFound(w, r)
		return
	}
	respond(w, body)
}

func respond(w http.ResponseWriter, body []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // an error means that the client closed the connection
}

// broadcast sends every watcher its event after a write to the path object.
func (l *lowerBound) broadcast(object string) {
	collection := path.Dir(object)
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.written[collection] == nil {
		l.written[collection] = map[string]bool{}
	}
	l.written[collection][object] = true
	for w, event := range l.watchers {
		w <- event
	}
}

// watch sends an event for each object of the collection that was written earlier, and then the events of later writes.
// Pending events are sent with one flush.
func (l *lowerBound) watch(w http.ResponseWriter, r *http.Request) {
	const capacity = 16 // the number of events that a slow watcher may have pending
	events := make(chan []byte, capacity)
	first, ok := l.events[responseKey{r.URL.Path, r.Header.Get("Accept")}]
	if !ok {
		first = l.event
	}
	l.lock.Lock()
	l.watchers[events] = first
	count := len(l.written[r.URL.Path])
	l.lock.Unlock()
	defer l.forget(events)
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

// forget removes the watcher with the channel events. Until then it drains events, because broadcast may be blocked on
// that channel.
func (l *lowerBound) forget(events chan []byte) {
	gone := make(chan struct{})
	go func() {
		l.lock.Lock()
		delete(l.watchers, events)
		l.lock.Unlock()
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
