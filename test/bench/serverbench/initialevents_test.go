package serverbench

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// watchServer returns a server that sends the given number of events to each watch. If end is set, it then closes the
// watch.
func watchServer(t *testing.T, events int, end bool) *Server {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		for i := range events {
			fmt.Fprintf(w, `{"type":"ADDED","object":%d}`+"\n", i)
		}
		http.NewResponseController(w).Flush()
		if !end {
			<-r.Context().Done()
		}
	})
}

// TestInitialEvents checks that a watch ends after the initial events, and that too few of them are an error.
func TestInitialEvents(t *testing.T) {
	all := ManagedObjects{Managers: 1, Objects: 3}
	s := watchServer(t, all.Objects, false)
	if size, err := all.EventSize(t.Context(), s, Format{Media: JSON}); err != nil || size != float64(len(`{"type":"ADDED","object":0}`)+1) {
		t.Errorf("EventSize() = %v, %v, want the size of one event and no error", size, err)
	}
	if r, err := all.InitialEvents(Format{Media: JSON}).Run(t.Context(), s, testLoad); err != nil || r.Operations == 0 {
		t.Errorf("InitialEvents().Run() = %+v, %v, want operations", r, err)
	}
	if _, err := all.EventSize(t.Context(), watchServer(t, 2, true), Format{Media: JSON}); err == nil || !strings.Contains(err.Error(), "expected 3, received 2") {
		t.Errorf("EventSize() of a watch that ends early = %v, want an error", err)
	}
}
