package pebble

import (
	"fmt"
	"testing"

	"github.com/cadastre/cadastre/internal/storage"
)

// TestBlockCacheRetainsBlocks: the block cache still retains blocks when the memtables have grown to their maximum size.
func TestBlockCacheRetainsBlocks(t *testing.T) {
	s := open(t, Options{})
	defer s.Close()
	// The loop writes enough data for memtables of the maximum size: Pebble starts with a small memtable and doubles the
	// size for each new one.
	for i := range 100 {
		if _, err := s.Commit(t.Context(), storage.Write{Key: fmt.Sprint("k/", i), Value: make([]byte, 1<<20)}); err != nil {
			t.Fatal(err)
		}
	}
	if size := s.db.Metrics().MemTable.Size; size < memTableSize {
		t.Fatalf("size of the memtables = %d bytes, want at least %d", size, memTableSize)
	}
	if err := s.db.Flush(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), "k/1"); err != nil {
		t.Fatal(err)
	}
	if size := s.db.Metrics().BlockCache.Size; size == 0 {
		t.Error("size of the block cache after a read = 0, want more")
	}
}
