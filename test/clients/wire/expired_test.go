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

// eventsPath is where the objects of this test are. Of events kube-apiserver has nothing in memory, so that it knows
// no more of the past than etcd. Of other kinds it knows what has been since it started, and then as much as fits: what
// it answers when that is over is the same but for the message ("too old resource version: 1 (868)").
const eventsPath = "/api/v1/namespaces/default/events"

// TestExpired: what a server has forgotten can't be watched, listed or gone on with. No script can say this: how long a
// server remembers is its own affair, and no request makes it forget.
func TestExpired(t *testing.T) {
	before, forget := forgetful(t)
	for _, name := range []string{"a", "b", "c"} {
		before.must(t, 201, "POST", eventsPath, `{"metadata":{"name":"`+name+`"},"involvedObject":{"namespace":"default"}}`)
	}
	page := read[metav1.List](t, before.must(t, 200, "GET", eventsPath+"?limit=1", ""))
	old := page.ResourceVersion
	exactly := eventsPath + "?resourceVersionMatch=Exact&resourceVersion=" + old
	before.must(t, 200, "GET", exactly, "")
	s := forget(old)

	// A watch begins, and ends with an event. So does one whose client takes bookmarks.
	for _, more := range []string{"", "&allowWatchBookmarks=true"} {
		watch := s.must(t, 200, "GET", eventsPath+"?watch=true&timeoutSeconds=5&resourceVersion=1"+more, "")
		event := read[struct {
			Type   string
			Object metav1.Status
		}](t, watch)
		wantExpired(t, event.Object, "is too old")
		if event.Type != "ERROR" || event.Object.Kind != "Status" || event.Object.APIVersion != "v1" {
			t.Errorf("received %s", watch.body)
		}
	}

	// A list of that state is refused.
	wantExpired(t, s.must(t, 410, "GET", exactly, "").status(t), "is too old")

	// So is the next page, with a way to go on with the state of now.
	refused := s.must(t, 410, "GET", eventsPath+"?limit=1&continue="+page.Continue, "").status(t)
	wantExpired(t, refused, "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, "+
		"or use the continue token in this response to retrieve the remainder of the results.")
	rest := read[metav1.List](t, s.must(t, 200, "GET", eventsPath+"?continue="+refused.Continue, ""))
	if len(rest.Items) < 2 || rest.ResourceVersion == old {
		t.Errorf("received %d objects at %s, want b and c at a later version than %s", len(rest.Items), rest.ResourceVersion, old)
	}

	// Whoever is content with something newer gets it.
	s.must(t, 200, "GET", eventsPath+"?resourceVersion="+old, "")
}

func wantExpired(t *testing.T, status metav1.Status, message string) {
	t.Helper()
	if status.Status != metav1.StatusFailure || status.Reason != metav1.StatusReasonExpired || status.Code != 410 || !strings.Contains(status.Message, message) {
		t.Errorf("received %+v, want that it has expired, and %q", status, message)
	}
}

// forgetful starts a server, and returns what makes it forget all that was up to a version.
func forgetful(t *testing.T) (server, func(old string) server) {
	t.Helper()
	if target.Implementation() == target.KubeAPIServer {
		return forgetfulKubeAPIServer(t)
	}
	folder := t.TempDir()
	s, stop := startOurs(t, folder)
	return s, func(old string) server {
		stop()
		compact(t, filepath.Join(folder, "store"), old)
		s, stop := startOurs(t, folder)
		t.Cleanup(stop)
		return s
	}
}

// startOurs starts a server on a folder that lasts.
func startOurs(t *testing.T, folder string) (server, func()) {
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
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := running.Stop(ctx); err != nil {
			t.Error(err)
		}
	}
	return connectTo(t, config), stop
}

// compact has a store forget, as it does when time has passed.
func compact(t *testing.T, folder, version string) {
	t.Helper()
	revision, err := strconv.ParseInt(version, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := pebble.Open(pebble.Options{Folder: folder, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	// The last state there was is kept: one more commit makes the old one the past.
	_, err = kept.Commit(t.Context(), storage.Write{Key: "later", Value: []byte("{}")})
	if err == nil {
		err = kept.Compact(t.Context(), storage.Revision(revision)+1)
	}
	if err = errors.Join(err, kept.Close()); err != nil {
		t.Fatal(err)
	}
}

// forgetfulKubeAPIServer is one that has etcd forget five times a second, all that it had at the time before.
func forgetfulKubeAPIServer(t *testing.T) (server, func(string) server) {
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
		if !testwait.Within(patience, isCompacted) {
			t.Fatalf("revision %s is not compacted", old)
		}
		return s
	}
}
