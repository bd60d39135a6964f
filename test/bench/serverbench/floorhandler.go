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

// A floor finds bytes by path and writes them. It reads the body of a write, keeps nothing, answers with
// the object and tells watchers.
type floor struct {
	answers map[wished][]byte
	events  map[wished][]byte // by collection; others have event
	object  []byte
	event   []byte

	lock     sync.Mutex
	written  map[string]map[string]bool // paths of objects, by that of their collection
	watchers map[chan []byte][]byte     // what each is told
}

// wished is a path and how the client wants what is there.
type wished struct{ path, accept string }

func newFloor(sample Sample) *floor {
	f := &floor{
		answers: map[wished][]byte{}, events: map[wished][]byte{}, object: sample.Object, event: modified(sample.Object),
		written: map[string]map[string]bool{}, watchers: map[chan []byte][]byte{},
	}
	f.add(listedPlace, listed, jsonType, sample.Object, sample.List)
	for _, m := range sample.Managed {
		f.add(m.place, m.Objects, m.Accept(), m.Object, m.List)
		f.events[wished{m.place(0).collection(), m.Accept()}] = modified(m.Object)
	}
	return f
}

// add has the floor answer with an object and a list.
func (f *floor) add(at func(int) place, count int, accept string, object, list []byte) {
	for i := range count {
		f.answers[wished{at(i).path(), accept}] = bytes.Clone(object) // in memory of its own, as a server has it
	}
	f.answers[wished{at(0).collection(), accept}] = list
}

// modified is the event about an object in JSON. In other media nobody watches.
func modified(object []byte) []byte {
	return fmt.Appendf(nil, `{"type":"MODIFIED","object":%s}`+"\n", bytes.TrimSpace(object))
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
		answer(w, f.object)
		f.broadcast(r.URL.Path)
		return
	}
	if r.URL.RawQuery == watchQuery {
		f.watch(w, r)
		return
	}
	body, ok := f.answers[wished{r.URL.Path, r.Header.Get("Accept")}]
	if !ok {
		http.NotFound(w, r)
		return
	}
	answer(w, body)
}

func answer(w http.ResponseWriter, body []byte) {
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
	for w, event := range f.watchers {
		w <- event
	}
}

// watch sends an event for each object that was written, and then those that are broadcast, as many at once as
// there are.
func (f *floor) watch(w http.ResponseWriter, r *http.Request) {
	const room = 16 // for those whose turn comes late
	events := make(chan []byte, room)
	first, ok := f.events[wished{r.URL.Path, r.Header.Get("Accept")}]
	if !ok {
		first = f.event
	}
	f.lock.Lock()
	f.watchers[events] = first
	there := len(f.written[r.URL.Path])
	f.lock.Unlock()
	defer f.forget(events)
	flusher := http.NewResponseController(w)
	for event := bytes.Repeat(first, there); ; {
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
