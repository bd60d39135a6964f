package serverbench

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// watchServer sends so many events to who watches.
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

// TestBegin: a watch goes when it has heard of all objects, and was wrong if it did not.
func TestBegin(t *testing.T) {
	all := Managed{Managers: 1, Objects: 3}
	s := watchServer(t, all.Objects, false)
	if size, err := all.EventSize(t.Context(), s, Wish{Media: JSON}); err != nil || size != float64(len(`{"type":"ADDED","object":0}`)+1) {
		t.Errorf("events of %v bytes, %v", size, err)
	}
	if r, err := all.Begin(Wish{Media: JSON}).Run(t.Context(), s, testLoad); err != nil || r.Operations == 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := all.EventSize(t.Context(), watchServer(t, 2, true), Wish{Media: JSON}); err == nil || !strings.Contains(err.Error(), "2 events, expected 3") {
		t.Errorf("a watch that ends too early: %v", err)
	}
}
