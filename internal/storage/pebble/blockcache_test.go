package pebble

import (
	"fmt"
	"testing"

	"github.com/cadastre/cadastre/internal/storage"
)

// Pebble keeps blocks that were read, also when its memtables have grown to what they are under load.
func TestBlocksAreKept(t *testing.T) {
	s := open(t, Options{})
	defer s.Close()
	for i := range 100 { // memtables start small, and each is twice the one before
		if _, err := s.Commit(t.Context(), storage.Write{Key: fmt.Sprint("k/", i), Value: make([]byte, 1<<20)}); err != nil {
			t.Fatal(err)
		}
	}
	if size := s.db.Metrics().MemTable.Size; size < memTableSize {
		t.Fatalf("memtables have %d bytes, want %d at least", size, memTableSize)
	}
	if err := s.db.Flush(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), "k/1"); err != nil {
		t.Fatal(err)
	}
	if kept := s.db.Metrics().BlockCache.Size; kept == 0 {
		t.Error("nothing that was read is kept")
	}
}
