package watchcache

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/cadastre/cadastre/internal/lib/testwait"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/storage/pebble"
)

// discardLog is a logger that discards all messages, for tests that provoke log messages.
var discardLog = slog.New(slog.NewTextHandler(io.Discard, nil))

func openStore(t testing.TB) storage.Store {
	t.Helper()
	s, err := pebble.Open(pebble.Options{Log: discardLog})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func podFields(string) []Field {
	return []Field{{Name: "spec.nodeName", Path: []string{"spec", "nodeName"}}}
}

func openCache(t testing.TB, s storage.Store, o Options) *Cache {
	t.Helper()
	if o.Fields == nil {
		o.Fields = podFields
	}
	if o.Log == nil {
		o.Log = discardLog
	}
	c, err := Open(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

const pods = "core/pods"

func podKey(namespace, name string) Key { return Key{Kind: pods, Namespace: namespace, Name: name} }

// pod returns the JSON of a Pod with a label "app", spec.nodeName and a spec field of size bytes.
func pod(name, app, node string, size int) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"app":%q},"managedFields":[],"name":%q},"spec":{"filler":"%*s","nodeName":%q}}`,
		app, name, size, "", node)
}

// put creates or replaces an object and returns the revision of the commit.
func put(t testing.TB, c *Cache, key Key, value []byte) storage.Revision {
	t.Helper()
	w := storage.Write{Key: key.String(), Value: value}
	if o, err := c.Get(t.Context(), key, Latest); err == nil {
		w.Expected = o.Revision()
	}
	_, revision, err := c.Commit(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	return revision
}

func remove(t testing.TB, c *Cache, key Key) storage.Revision {
	t.Helper()
	o, err := c.Get(t.Context(), key, Latest)
	if err != nil {
		t.Fatal(err)
	}
	_, revision, err := c.Commit(t.Context(), storage.Write{Key: key.String(), Expected: o.Revision()})
	if err != nil {
		t.Fatal(err)
	}
	return revision
}

// watch starts a watch of pods that is closed at the end of the test.
func watch(t testing.TB, c *Cache, o WatchOptions) *Watcher {
	t.Helper()
	o.Kind = pods
	w, err := c.Watch(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

// next returns the next count events of w, formatted by eventText. It fails the test if they do not arrive within ten seconds.
func next(t testing.TB, w *Watcher, count int) (got []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for len(got) < count {
		events, err := w.Next(ctx)
		if err != nil {
			t.Fatalf("Next() = %v after events %v, want more events", err, got)
		}
		for _, e := range events {
			got = append(got, eventText(e))
		}
	}
	return got
}

func eventText(e Event) string {
	if e.Object == nil {
		return fmt.Sprintf("%v %d", e.Type, e.Revision)
	}
	return fmt.Sprintf("%v %s/%s@%d", e.Type, e.Object.Namespace(), e.Object.Name(), e.Object.Revision())
}

// waitInBackground calls w.Next in a goroutine and waits until that call blocks. It returns the channel on which the goroutine
// sends the error of Next.
func waitInBackground(t testing.TB, w *Watcher) <-chan error {
	ended := make(chan error)
	inHistory := w.history != nil // a watcher that waits for the store's history does not set topic.waiting
	if !inHistory {
		w.topic.waiting.Store(false)
	}
	go func() {
		_, err := w.Next(t.Context())
		ended <- err
	}()
	testwait.For(t, "the watcher to wait", func() bool {
		w.resource.mu.RLock()
		defer w.resource.mu.RUnlock()
		return inHistory || w.topic.waiting.Load()
	})
	return ended
}

// inspectTrimmed waits until the window is trimmed, and then calls look with the resourceCache of pods, whose lock it holds
// during the call.
func inspectTrimmed(t testing.TB, c *Cache, look func(rc *resourceCache)) {
	t.Helper()
	testwait.For(t, "the window to be trimmed", func() bool { return c.windowBytes.Load() <= int64(c.options.WindowBytes) })
	rc := c.resource(pods)
	rc.mu.RLock()
	defer rc.mu.RUnlock()
	look(rc)
}

// wantNoEvent waits 20 ms, and fails the test if w returns an event or an error in this time.
func wantNoEvent(t testing.TB, w *Watcher) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if events, err := w.Next(ctx); err == nil {
		t.Errorf("Next() = %s, want no event", eventText(events[0]))
	} else if ctx.Err() == nil {
		t.Errorf("Next() = %v, want no event", err)
	}
}

func labelSelector(t testing.TB, text string) labels.Selector {
	t.Helper()
	s, err := labels.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func fieldSelector(t testing.TB, text string) fields.Selector {
	t.Helper()
	s, err := fields.ParseSelector(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
