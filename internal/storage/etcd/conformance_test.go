package etcd

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/cadastre/cadastre/internal/lib/testwait"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/storage/etcd/etcdtest"
	"github.com/cadastre/cadastre/internal/storage/storagetest"
)

// prefixes counts the prefixes of tests: stores of one etcd with different prefixes share no items.
var prefixes atomic.Int64

// open opens a store with a prefix of its own.
func open(t *testing.T, cluster *etcdtest.Process, o Options) *Store {
	t.Helper()
	o.Endpoints = []string{cluster.Endpoint}
	if o.Prefix == "" {
		o.Prefix = fmt.Sprintf("/test%d", prefixes.Add(1))
	}
	if o.CompactionInterval == 0 {
		o.CompactionInterval = -1
	}
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil && !errors.Is(err, storage.ErrClosed) {
			t.Error(err)
		}
	})
	return s
}

func TestConformance(t *testing.T) {
	cluster := etcdtest.Start(t)
	storagetest.Run(t, storagetest.Backend{Open: func(t *testing.T) storage.Store { return open(t, cluster, Options{}) }})
}

// TestModel compares random operations with a model. Reopening kills etcd and opens a new store.
func TestModel(t *testing.T) {
	cluster := etcdtest.Start(t)
	var last *Store
	backend := storagetest.Backend{Open: func(t *testing.T) storage.Store {
		last = open(t, cluster, Options{})
		return last
	}}
	reopen := func(t *testing.T, s storage.Store) storage.Store {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		cluster.Kill()
		cluster.Resume(t)
		last = open(t, cluster, Options{Prefix: last.options.Prefix})
		return last
	}
	storagetest.RunModel(t, backend, reopen, uint64(time.Now().UnixNano()), 400)
}

// TestOtherKeys checks that keys outside of the prefix are invisible, and that their commits are progress.
func TestOtherKeys(t *testing.T) {
	cluster := etcdtest.Start(t)
	own, other := open(t, cluster, Options{Prefix: "/a"}), open(t, cluster, Options{Prefix: "/ab"})
	w, err := own.Watch(t.Context(), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	written := commit(t, other, storage.Write{Key: "x", Value: []byte("1")})
	page, err := own.List(t.Context(), storage.Range{})
	if err != nil || len(page.Items) > 0 || page.Revision < written {
		t.Errorf("List() = %v at revision %d, %v, want no items at revision %d or later", page.Items, page.Revision, err, written)
	}
	batch, err := w.Next(t.Context())
	if err != nil || len(batch.Events) > 0 || batch.Revision < written {
		t.Errorf("Next() = %+v, %v, want progress up to revision %d", batch, err, written)
	}
}

func commit(t *testing.T, s *Store, writes ...storage.Write) storage.Revision {
	t.Helper()
	revision, err := s.Commit(t.Context(), writes...)
	if err != nil {
		t.Fatal(err)
	}
	return revision
}

// TestLeases checks that items with a time to live expire, that their expiry is an event, and that items of the same minute share a
// lease.
func TestLeases(t *testing.T) {
	cluster := etcdtest.Start(t)
	s := open(t, cluster, Options{TTL: func(key string) time.Duration {
		if key == "kept" {
			return 0
		}
		return time.Second
	}})
	var granted atomic.Int64
	s.leases.grant = func(ctx context.Context, d time.Duration) (clientv3.LeaseID, error) {
		granted.Add(1)
		return s.grantLease(ctx, d)
	}
	w, err := s.Watch(t.Context(), "", s.mustRevision(t))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	commit(t, s, storage.Write{Key: "a", Value: []byte("1")}, storage.Write{Key: "b", Value: []byte("1")}, storage.Write{Key: "kept", Value: []byte("1")})
	if n := granted.Load(); n != 1 {
		t.Errorf("a commit of two items with a time to live granted %d leases, want 1", n)
	}
	deleted := map[string]bool{}
	for len(deleted) < 2 {
		batch, err := w.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range batch.Events {
			if e.IsDelete() {
				deleted[e.Key] = string(e.Previous) == "1"
			}
		}
	}
	if !deleted["a"] || !deleted["b"] {
		t.Errorf("deletions with the previous value: %v, want those of a and b", deleted)
	}
	if _, err := s.Get(t.Context(), "kept"); err != nil {
		t.Errorf("Get(kept) = %v, want an item", err)
	}
}

func (s *Store) mustRevision(t *testing.T) storage.Revision {
	t.Helper()
	revision, err := s.Revision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return revision
}

// TestCompactionTurns checks that of two processes only one compacts per interval, and compacts up to the end of the previous one.
func TestCompactionTurns(t *testing.T) {
	cluster := etcdtest.Start(t)
	first, second := open(t, cluster, Options{}), open(t, cluster, Options{})
	commit(t, first, storage.Write{Key: "a", Value: []byte("1")})
	turns := [2]compactionTurn{}
	take := func(i int, s *Store) {
		t.Helper()
		next, err := s.takeCompactionTurn(t.Context(), turns[i])
		if err != nil {
			t.Fatal(err)
		}
		turns[i] = next
	}
	take(0, first)
	take(1, second) // the key exists already, so this process waits for the next interval
	if turns[0].version != 1 || turns[1].version != 1 {
		t.Fatalf("versions after the first interval: %d and %d, want 1 and 1", turns[0].version, turns[1].version)
	}
	old := storage.Revision(turns[1].revision)
	commit(t, second, storage.Write{Key: "b", Value: []byte("1")})
	if _, err := first.List(t.Context(), storage.Range{Revision: old - 1}); err != nil {
		t.Errorf("List() before compaction = %v, want nil", err)
	}
	take(1, second)
	take(0, first)
	if _, err := first.List(t.Context(), storage.Range{Revision: old - 1}); !errors.Is(err, storage.ErrCompacted) {
		t.Errorf("List() before revision %d = %v, want %v", old, err, storage.ErrCompacted)
	}
	if _, err := first.List(t.Context(), storage.Range{Revision: old}); err != nil {
		t.Errorf("List() at revision %d, up to which the second process compacted = %v, want nil", old, err)
	}
	response, err := first.client.Get(t.Context(), compactionKey)
	if err != nil || len(response.Kvs) != 1 || string(response.Kvs[0].Value) != fmt.Sprint(old) || response.Kvs[0].Version != 2 {
		t.Errorf("%s = %v, %v, want the value %d at version 2", compactionKey, response, err, old)
	}
}

// TestUnavailable checks that commits fail at once while etcd is gone, that nothing is lost, and that watches and commits recover
// without a new store.
func TestUnavailable(t *testing.T) {
	cluster := etcdtest.Start(t)
	s := open(t, cluster, Options{})
	created := commit(t, s, storage.Write{Key: "a", Value: []byte("1")})
	w, err := s.Watch(t.Context(), "", created)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	cluster.Kill()
	testwait.For(t, "a failure of the store", func() bool { return s.Failure() != nil })
	_, err = s.Commit(t.Context(), storage.Write{Key: "b", Value: []byte("1")})
	if unavailable := (*storage.UnavailableError)(nil); !errors.As(err, &unavailable) {
		t.Errorf("Commit() without etcd = %v, want a *storage.UnavailableError", err)
	}
	cluster.Resume(t)
	testwait.For(t, "the end of the failure", func() bool { return s.Failure() == nil })
	if _, err := s.Get(t.Context(), "b"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("Get() of an item whose commit failed = %v, want %v", err, storage.ErrNotFound)
	}
	updated := commit(t, s, storage.Write{Key: "a", Expected: created, Value: []byte("2")})
	for {
		batch, err := w.Next(t.Context())
		if err != nil {
			t.Fatalf("Next() after etcd has restarted = %v, want an event", err)
		}
		if len(batch.Events) == 0 {
			continue
		}
		if e := batch.Events[0]; e.Revision != updated || e.PreviousRevision != created {
			t.Errorf("Next() = an event at revision %d with previous revision %d, want %d and %d", e.Revision, e.PreviousRevision, updated, created)
		}
		return
	}
}

// TestUnknownOutcome checks that a commit whose request was sent is reported as unknown if etcd does not respond, and that a commit
// that was never sent is not.
func TestUnknownOutcome(t *testing.T) {
	cluster := etcdtest.Start(t)
	s := open(t, cluster, Options{})
	cluster.Pause(t)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := s.Commit(ctx, storage.Write{Key: "a", Value: []byte("1")})
	if unknown := (*storage.UnknownError)(nil); !errors.As(err, &unknown) {
		t.Errorf("Commit() while etcd is paused = %v, want a *storage.UnknownError", err)
	}
	cluster.Continue(t)
}

// TestLimits checks the errors for commits that etcd rejects because of their size.
func TestLimits(t *testing.T) {
	cluster := etcdtest.Start(t)
	s := open(t, cluster, Options{})
	many := make([]storage.Write, 200)
	for i := range many {
		many[i] = storage.Write{Key: fmt.Sprint(i), Value: []byte("1")}
	}
	for name, writes := range map[string][]storage.Write{
		"many writes":       many,
		"a value of 1.9 MB": {{Key: "a", Value: make([]byte, 1_900_000)}},
		"a value of 3 MB":   {{Key: "a", Value: make([]byte, 3_000_000)}},
	} {
		_, err := s.Commit(t.Context(), writes...)
		if limit := (*storage.LimitError)(nil); !errors.As(err, &limit) {
			t.Errorf("Commit() of %s = %v, want a *storage.LimitError", name, err)
		}
	}
}

// TestTLS checks that a store verifies the certificate of etcd.
func TestTLS(t *testing.T) {
	cluster, ca := etcdtest.StartTLS(t)
	commit(t, open(t, cluster, Options{CAFile: ca}), storage.Write{Key: "a", Value: []byte("1")})
	other, _ := etcdtest.StartTLS(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if s, err := Open(ctx, Options{Endpoints: []string{other.Endpoint}, CAFile: ca}); err == nil {
		t.Errorf("Open() with the CA of another etcd: error = nil, want an error; Close() = %v", s.Close())
	}
}

// TestPassword checks that a store authenticates with a user and a password.
func TestPassword(t *testing.T) {
	cluster := etcdtest.Start(t)
	before := open(t, cluster, Options{})
	if _, err := before.client.UserAdd(t.Context(), "root", "secret"); err != nil {
		t.Fatal(err)
	}
	if _, err := before.client.UserGrantRole(t.Context(), "root", "root"); err != nil {
		t.Fatal(err)
	}
	if _, err := before.client.AuthEnable(t.Context()); err != nil {
		t.Fatal(err)
	}
	commit(t, open(t, cluster, Options{Username: "root", Password: "secret"}), storage.Write{Key: "a", Value: []byte("1")})
	for name, o := range map[string]Options{"a wrong password": {Username: "root", Password: "x"}, "no password": {}} {
		o.Endpoints = []string{cluster.Endpoint}
		if s, err := Open(t.Context(), o); err == nil {
			t.Errorf("Open() with %s: error = nil, want an error; Close() = %v", name, s.Close())
		}
	}
}

func TestOptions(t *testing.T) {
	for _, test := range []struct {
		options Options
		valid   bool
	}{
		{Options{}, false},
		{Options{Endpoints: []string{"127.0.0.1:2379"}}, false},
		{Options{Endpoints: []string{"http://127.0.0.1:2379"}}, true},
		{Options{Endpoints: []string{"http://127.0.0.1:2379"}, CAFile: "ca.crt"}, false},
		{Options{Endpoints: []string{"https://127.0.0.1:2379"}, CertFile: "a.crt"}, false},
		{Options{Endpoints: []string{"https://127.0.0.1:2379"}, CertFile: "a.crt", KeyFile: "a.key"}, true},
	} {
		if err := test.options.Check(); (err == nil) != test.valid {
			t.Errorf("Check() of %+v = %v, want valid = %v", test.options, err, test.valid)
		}
	}
}
