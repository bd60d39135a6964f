package pebble

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/storage"
)

// TestTrim: the history is compacted when it exceeds HistoryAge or HistoryBytes, while commits continue.
func TestTrim(t *testing.T) {
	for name, options := range map[string]Options{
		"age":  {HistoryAge: 1500 * time.Millisecond, HistoryBytes: -1},
		"size": {HistoryAge: -1, HistoryBytes: 100_000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, options)
			defer s.Close()
			last := map[string]storage.Revision{}
			write := func() {
				for i := range 200 {
					key := fmt.Sprintf("k/%d", i%20)
					r, err := s.Commit(t.Context(), storage.Write{Key: key, Expected: last[key], Value: make([]byte, 1000)})
					if err != nil {
						t.Fatal(err)
					}
					last[key] = r
				}
			}
			write()
			waitFor(t, func() bool {
				if name == "size" {
					if err := s.trimTo(s.options.HistoryAge); err != nil {
						t.Fatal(err)
					}
				}
				return s.compacted.Load() > 50
			})
			write()
			if _, err := s.Watch(t.Context(), "", 1); !errors.Is(err, storage.ErrCompacted) {
				t.Errorf("Watch() from the start = %v, want %v", err, storage.ErrCompacted)
			}
			page, err := s.List(t.Context(), storage.Range{})
			if err != nil || len(page.Items) != 20 {
				t.Fatalf("List() = %d items, %v, want 20", len(page.Items), err)
			}
			for _, item := range page.Items {
				if item.Revision != last[item.Key] {
					t.Errorf("List(): %s is at revision %d, want %d", item.Key, item.Revision, last[item.Key])
				}
			}
			if size := s.historyBytes.Load(); name == "size" && size > 400_000 {
				t.Errorf("historyBytes = %d, want at most 400000", size)
			}
		})
	}
}

// TestCompactDeletesRecords: Compact deletes the records of compacted item versions and commits from Pebble.
func TestCompactDeletesRecords(t *testing.T) {
	s := open(t, Options{HistoryAge: -1})
	defer s.Close()
	revision := storage.Revision(0)
	for range 1000 {
		next, err := s.Commit(t.Context(), storage.Write{Key: "a", Expected: revision, Value: make([]byte, 100)})
		if err != nil {
			t.Fatal(err)
		}
		revision = next
	}
	deleted, err := s.Commit(t.Context(), storage.Write{Key: "a", Expected: revision})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Compact(t.Context(), deleted); err != nil {
		t.Fatal(err)
	}
	iter, err := s.db.NewIter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer iter.Close()
	for valid := iter.First(); valid; valid = iter.Next() {
		if iter.Key()[0] != metaPrefix {
			t.Errorf("record %q exists after Compact(), want it deleted", iter.Key())
		}
	}
}

// TestCommitTimeAfterIdle: the log record of the first commit after an idle period has the time of that commit, and not
// the time of an earlier commit.
func TestCommitTimeAfterIdle(t *testing.T) {
	t.Parallel()
	s := open(t, Options{HistoryAge: -1})
	defer s.Close()
	time.Sleep(2100 * time.Millisecond) // the log stores times in whole seconds, so the idle period must be longer than one second
	begun := time.Now().Truncate(time.Second)
	last, err := s.Commit(t.Context(), storage.Write{Key: "k/a", Value: []byte("x")})
	if err != nil {
		t.Fatal(err)
	}
	err = eachLogEntry(s.db, last-1, last, func(e logEntry) (bool, error) {
		if e.when.Before(begun) {
			t.Errorf("time of the log record = %s, want %s or later", e.when, begun)
		}
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
