package custom

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/cache/cachetest"
	"github.com/cadastre/cadastre/internal/store"
)

// gated is a store in which, once it is closed, the next commit to widgets waits until it is opened. Later ones do not.
type gated struct {
	store.Store
	isClosed atomic.Bool
	arrived  chan struct{}
	opened   chan struct{}
}

func (g *gated) Commit(ctx context.Context, writes ...store.Write) (store.Revision, error) {
	if strings.HasPrefix(writes[0].Key, "example.com/widgets/") && g.isClosed.Swap(false) {
		close(g.arrived)
		<-g.opened
	}
	return g.Store.Commit(ctx, writes...)
}

// TestWritersWaitForOwners: nobody writes by a new definition before all owners are as it has them. Otherwise the write would be by the old ones, and
// keep them from being brought over.
func TestWritersWaitForOwners(t *testing.T) {
	g := &gated{Store: cachetest.OpenStore(t), arrived: make(chan struct{}), opened: make(chan struct{})}
	k := open(t, g)
	k.defineWidgets(fmt.Sprintf(mergingAs, asAtom, mapAsAtom), "")
	apply := func(fields string) error {
		r := k.request(k.endpoint("example.com", "v1", "widgets", ""), "one", `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"one"},`+fields+`}`)
		_, err := k.all.Apply(t.Context(), r)
		return err
	}
	if err := apply(`"list":[{"name":"a","id":"1"},{"name":"b","id":"2"}]`); err != nil {
		t.Fatal(err)
	}
	g.isClosed.Store(true)
	k.mergeDefinition("widgets", `{"spec":{"versions":[`+fmt.Sprintf(mergingAs, byName, "")+`]}}`)
	select {
	case <-g.arrived:
	case <-time.After(30 * time.Second):
		t.Fatal("nobody brings the owners over")
	}
	done := make(chan error, 1)
	go func() { done <- apply(`"list":[{"name":"a","id":"1"}]`) }()
	select {
	case err := <-done:
		t.Errorf("somebody wrote before the owners were there: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	close(g.opened)
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the writer waits for ever")
	}
	if list := k.get("example.com/widgets", "one").Get("list"); list.Len() != 1 {
		t.Errorf("what was given up stays: %v", list)
	}
}
