package pebble

import (
	"fmt"
	"testing"

	"github.com/cadastre/cadastre/internal/storage"
)

// TestBlockCacheRetainsBlocks: the block cache retains blocks also when the memtables have grown to their maximum size.
func TestBlockCacheRetainsBlocks(t *testing.T) {
	s := open(t, Options{})
	defer s.Close()
	for i := range 100 { // the size of memtables doubles from a small one
		if _, err := s.Commit(t.Context(), storage.Write{Key: fmt.Sprint("k/", i), Value: make([]byte, 1<<20)}); err != nil {
			t.Fatal(err)
		}
	}
	if size := s.db.Metrics().MemTable.Size; size < memTableSize {
		t.Fatalf("the memtables have %d bytes, want at least %d", size, memTableSize)
	}
	if err := s.db.Flush(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), "k/1"); err != nil {
		t.Fatal(err)
	}
	if size := s.db.Metrics().BlockCache.Size; size == 0 {
		t.Error("the block cache is empty after a read")
	}
}
