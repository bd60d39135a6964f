package backup_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/cadastre/cadastre/internal/storage/backup"
	"github.com/cadastre/cadastre/internal/storage/pebble"
)

// FuzzReader reads arbitrary content, compressed: the end of a backup is reached only if the content is a valid one, with the checksum of
// all bytes before.
func FuzzReader(f *testing.F) {
	store, err := pebble.Open(pebble.Options{})
	if err != nil {
		f.Fatal(err)
	}
	defer store.Close()
	var file bytes.Buffer
	if _, err := backup.Write(context.Background(), store, &file); err != nil {
		f.Fatal(err)
	}
	in, err := gzip.NewReader(&file)
	if err != nil {
		f.Fatal(err)
	}
	valid, err := io.ReadAll(in)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(valid)
	f.Add(valid[:len(valid)-1])
	f.Add(append(bytes.Clone(valid[:len(valid)/2]), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f))
	f.Fuzz(func(t *testing.T, content []byte) {
		var compressed bytes.Buffer
		out := gzip.NewWriter(&compressed)
		_, err := out.Write(content)
		if err := errors.Join(err, out.Close()); err != nil {
			t.Fatal(err)
		}
		r, err := backup.NewReader(&compressed)
		for last := ""; err == nil; {
			item, next := r.Next()
			if err = next; err == nil && item.Key <= last {
				t.Fatalf("key %q after %q, want ascending keys", item.Key, last)
			}
			last = item.Key
		}
	})
}
