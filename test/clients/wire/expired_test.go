package wire

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	ours "github.com/cadastre/cadastre/internal/app"
	"github.com/cadastre/cadastre/internal/lib/testwait"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/storage/pebble"
	"github.com/cadastre/cadastre/test/clients/target"
	"github.com/cadastre/cadastre/test/peers"
)

// eventsPath is the path of the objects that the test compacts. kube-apiserver has no watch cache for events, so it
// returns the history of etcd. For other resources its watch cache contains all events since the start; a request for
// an older revision fails with a different message ("too old resource version: 1 (868)").
const eventsPath = "/api/v1/namespaces/default/events"

// TestExpired checks that watches, lists and continue tokens at a compacted revision fail. It is a Go test instead of a
// script, because no request makes a server compact its history.
func TestExpired(t *testing.T) {
	before, forget := startCompactable(t)
	for _, name := range []string{"a", "b", "c"} {
		before.must(t, 201, "POST", eventsPath, `{"metadata":{"name":"`+name+`"},"involvedObject":{"namespace":"default"}}`)
	}
	page := read[metav1.List](t, before.must(t, 200, "GET", eventsPath+"?limit=1", ""))
	old := page.ResourceVersion
	exactly := eventsPath + "?resourceVersionMatch=Exact&resourceVersion=" + old
	before.must(t, 200, "GET", exactly, "")
	s := forget(old)

	// A watch is accepted and then ends with an ERROR event, with and without bookmarks.
	for _, more := range []string{"", "&allowWatchBookmarks=true"} {
		watch := s.must(t, 200, "GET", eventsPath+"?watch=true&timeoutSeconds=5&resourceVersion=1"+more, "")
		event := read[struct {
			Type   string
			Object metav1.Status
		}](t, watch)
		wantExpired(t, event.Object, "is too old")
		if event.Type != "ERROR" || event.Object.Kind != "Status" || event.Object.APIVersion != "v1" {
			t.Errorf("watch = %s, want an ERROR event with a Status", watch.body)
		}
	}

	// A list at the compacted revision fails.
	wantExpired(t, s.must(t, 410, "GET", exactly, "").status(t), "is too old")

	// The request for the next page fails. The response contains a continue token for the current state.
	refused := s.must(t, 410, "GET", eventsPath+"?limit=1&continue="+page.Continue, "").status(t)
	wantExpired(t, refused, "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, "+
		"or use the continue token in this response to retrieve the remainder of the results.")
	rest := read[metav1.List](t, s.must(t, 200, "GET", eventsPath+"?continue="+refused.Continue, ""))
	if len(rest.Items) < 2 || rest.ResourceVersion == old {
		t.Errorf("list with the new continue token = %d objects at %s, want b and c at a later resourceVersion than %s", len(rest.Items), rest.ResourceVersion, old)
	}

	// A list at a resourceVersion that is not older than the compacted revision succeeds.
	s.must(t, 200, "GET", eventsPath+"?resourceVersion="+old, "")
}

func wantExpired(t *testing.T, status metav1.Status, message string) {
	t.Helper()
	if status.Status != metav1.StatusFailure || status.Reason != metav1.StatusReasonExpired || status.Code != 410 || !strings.Contains(status.Message, message) {
		t.Errorf("status = %+v, want Expired with message %q", status, message)
	}
}

// startCompactable starts a server. It also returns a function that compacts the server's history, so that the revision
// old is compacted, and returns a client of the server. Cadastre is restarted for that, so the first client must not be
// used afterwards.
func startCompactable(t *testing.T) (server, func(old string) server) {
	t.Helper()
	if target.Implementation() == target.KubeAPIServer {
		return startCompactableKubeAPIServer(t)
	}
	folder := t.TempDir()
	s, stop := startCadastre(t, folder)
	return s, func(old string) server {
		stop()
		compact(t, filepath.Join(folder, "store"), old)
		s, stop := startCadastre(t, folder)
		t.Cleanup(stop)
		return s
	}
}

// startCadastre starts Cadastre with the data directory folder, and returns a client of it and a function that stops
// it.
func startCadastre(t *testing.T, folder string) (server, func()) {
	t.Helper()
	running, err := ours.Start(context.Background(), ours.Config{Folder: folder, Address: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	certificate, key := running.Authority.Admin()
	config := &rest.Config{
		Host:            running.URL(),
		TLSClientConfig: rest.TLSClientConfig{CAData: running.Authority.CA(), CertData: certificate, KeyData: key},
	}
	stop := func() {
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		if err := running.Stop(ctx); err != nil {
			t.Error(err)
		}
	}
	return connectTo(t, config), stop
}

// compact compacts the history of the store in folder up to and including the revision version. No server may be
// running.
func compact(t *testing.T, folder, version string) {
	t.Helper()
	revision, err := strconv.ParseInt(version, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	store, err := pebble.Open(pebble.Options{Folder: folder, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	// Commit once more, because a store never compacts its last revision.
	_, err = store.Commit(t.Context(), storage.Write{Key: "later", Value: []byte("{}")})
	if err == nil {
		err = store.Compact(t.Context(), storage.Revision(revision)+1)
	}
	if err = errors.Join(err, store.Close()); err != nil {
		t.Fatal(err)
	}
}

// startCompactableKubeAPIServer starts a kube-apiserver that compacts etcd five times per second, each time up to the
// revision that was current at the previous compaction. The returned function writes objects until the given revision
// is compacted.
func startCompactableKubeAPIServer(t *testing.T) (server, func(string) server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	running, err := peers.Start(ctx, peers.Options{Args: []string{"--etcd-compaction-interval=200ms"}})
	if errors.Is(err, peers.ErrNotBuilt) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(running.Stop)
	s := connectTo(t, &rest.Config{Host: running.Host, BearerToken: running.Token, TLSClientConfig: rest.TLSClientConfig{CAData: running.CA}})
	return s, func(old string) server {
		isCompacted := func() bool {
			s.must(t, 201, "POST", eventsPath, `{"metadata":{"generateName":"later-"},"involvedObject":{"namespace":"default"}}`)
			return s.call(t, "GET", eventsPath+"?resourceVersionMatch=Exact&resourceVersion="+old, "").code == 410
		}
		if !testwait.Within(timeout, isCompacted) {
			t.Fatalf("timed out waiting for the compaction of revision %s", old)
		}
		return s
	}
}
