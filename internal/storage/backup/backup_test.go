package backup_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/storage/backup"
	"github.com/cadastre/cadastre/internal/storage/pebble"
)

var writeFixture = flag.Bool("write-fixture", false, "write the fixture of the current format to testdata, if there is none")

// fill returns a store with the given number of items, and the items.
func fill(t *testing.T, items int) (*pebble.Store, []storage.Item) {
	t.Helper()
	s, err := pebble.Open(pebble.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	var all []storage.Item
	for i := range items {
		item := storage.Item{Key: fmt.Sprintf("core/configmaps/default/c%05d", i), Value: bytes.Repeat([]byte{byte(i)}, i%300)}
		if item.Revision, err = s.Commit(t.Context(), storage.Write{Key: item.Key, Value: item.Value}); err != nil {
			t.Fatal(err)
		}
		all = append(all, item)
	}
	return s, all
}

// interceptor calls before when the store is listed for the second time.
type interceptor struct {
	storage.Store
	lists  int
	before func()
}

func (i *interceptor) List(ctx context.Context, r storage.Range) (storage.Page, error) {
	if i.lists++; i.lists == 2 {
		i.before()
	}
	return i.Store.List(ctx, r)
}

// TestWrite: a backup has exactly the items at its revision, although items are written, changed and deleted meanwhile.
func TestWrite(t *testing.T) {
	s, want := fill(t, 1500)
	watched := &interceptor{Store: s, before: func() {
		for _, w := range []storage.Write{
			{Key: want[1400].Key, Expected: want[1400].Revision, Value: []byte("later")},
			{Key: want[1401].Key, Expected: want[1401].Revision},
			{Key: "core/configmaps/default/later", Value: []byte("later")},
		} {
			if _, err := s.Commit(t.Context(), w); err != nil {
				t.Fatal(err)
			}
		}
	}}
	var file bytes.Buffer
	summary, err := backup.Write(t.Context(), watched, &file)
	if err != nil || summary.Revision != 1500 || summary.Items != 1500 || time.Since(summary.Time) > time.Hour {
		t.Fatalf("Write() = %+v, %v, want 1500 items at revision 1500", summary, err)
	}
	var got []storage.Item
	read, err := backup.Verify(&file, func(i storage.Item) error { got = append(got, i); return nil })
	if err != nil || !reflect.DeepEqual(read, summary) {
		t.Errorf("Verify() = %+v, %v, want %+v", read, err, summary)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Verify() visited %d items, want the %d at revision 1500", len(got), len(want))
	}
}

// TestWriteCompacted: a backup whose revision is compacted fails.
func TestWriteCompacted(t *testing.T) {
	s, _ := fill(t, 1500)
	watched := &interceptor{Store: s, before: func() {
		revision, err := s.Commit(t.Context(), storage.Write{Key: "core/nodes/n", Value: []byte("later")})
		if err == nil {
			err = s.Compact(t.Context(), revision)
		}
		if err != nil {
			t.Fatal(err)
		}
	}}
	if _, err := backup.Write(t.Context(), watched, io.Discard); !errors.Is(err, storage.ErrCompacted) || !strings.Contains(err.Error(), "revision 1500 was compacted") {
		t.Errorf("Write() = %v, want ErrCompacted with the revision", err)
	}
}

// TestDamage: every truncation and every change of a backup is detected.
func TestDamage(t *testing.T) {
	s, want := fill(t, 20)
	var whole bytes.Buffer
	if _, err := backup.Write(t.Context(), s, &whole); err != nil {
		t.Fatal(err)
	}
	const gzipHeader = 10 // contains a time and the operating system, which have no effect
	for n := range whole.Len() {
		if _, err := backup.Verify(bytes.NewReader(whole.Bytes()[:n]), nil); err == nil {
			t.Errorf("Verify() of %d of %d bytes = nil, want an error", n, whole.Len())
		}
		if n < gzipHeader {
			continue
		}
		changed := bytes.Clone(whole.Bytes())
		changed[n] ^= 4
		var got []storage.Item
		_, err := backup.Verify(bytes.NewReader(changed), func(i storage.Item) error { got = append(got, i); return nil })
		if err == nil && !reflect.DeepEqual(got, want) { // unused bits between the blocks of gzip have no effect
			t.Errorf("Verify() with byte %d changed = nil and other items, want an error", n)
		}
	}
}

// TestDamagedContents: what gzip accepts is verified as well.
func TestDamagedContents(t *testing.T) {
	s, _ := fill(t, 20)
	var whole bytes.Buffer
	if _, err := backup.Write(t.Context(), s, &whole); err != nil {
		t.Fatal(err)
	}
	uncompressed, err := gzip.NewReader(&whole)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(uncompressed)
	if err != nil {
		t.Fatal(err)
	}
	verify := func(text []byte) error {
		var file bytes.Buffer
		w := gzip.NewWriter(&file)
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		_, err := backup.Verify(&file, nil)
		return err
	}
	if err := verify(text); err != nil {
		t.Fatal(err)
	}
	for n := range text {
		changed := bytes.Clone(text)
		changed[n] ^= 1
		if verify(changed) == nil {
			t.Errorf("Verify() with byte %d of %d changed = nil, want an error", n, len(text))
		}
		if err := verify(text[:n]); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("Verify() of %d of %d bytes = %v, want an error other than EOF", n, len(text), err)
		}
	}
	if err := verify(append(bytes.Clone(text), 1)); err == nil || !strings.Contains(err.Error(), "received more data") {
		t.Errorf("Verify() with a further byte = %v, want an error", err)
	}
	if err := verify(bytes.Replace(text, []byte("cadastre-backup 1"), []byte("cadastre-backup 2"), 1)); err == nil || !strings.Contains(err.Error(), "use the release that wrote it") {
		t.Errorf("Verify() of another format = %v, want an error", err)
	}
}

// TestWriteFile: a file gets its name only if it is valid, and replaces no other file.
func TestWriteFile(t *testing.T) {
	s, _ := fill(t, 20)
	folder := t.TempDir()
	name := filepath.Join(folder, "a.backup")
	for _, write := range []func(w io.Writer) error{
		func(io.Writer) error { return errors.New("broken") },
		func(w io.Writer) error { _, err := w.Write([]byte("no backup")); return err },
	} {
		if _, err := backup.WriteFile(name, write); err == nil {
			t.Error("WriteFile() = nil, want an error")
		}
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("the folder contains %v, %v, want nothing", left, err)
	}
	write := func(w io.Writer) error { _, err := backup.Write(t.Context(), s, w); return err }
	if summary, err := backup.WriteFile(name, write); err != nil || summary.Items != 20 {
		t.Errorf("WriteFile() = %+v, %v, want 20 items", summary, err)
	}
	if info, err := os.Stat(name); err != nil || info.Mode() != 0o600 {
		t.Errorf("Stat() = %v, %v, want mode 0600", info.Mode(), err)
	}
	if _, err := backup.WriteFile(name, write); err == nil || !strings.Contains(err.Error(), "expected no file, found one") {
		t.Errorf("WriteFile() over a file = %v, want an error", err)
	}
}

// TestFixture reads a backup that an earlier release has written. The fixture of a format must never be written again.
func TestFixture(t *testing.T) {
	const name = "testdata/format1.backup"
	if _, err := os.Stat(name); err != nil && *writeFixture {
		s, _ := fill(t, 3)
		if _, err := backup.WriteFile(name, func(w io.Writer) error { _, err := backup.Write(t.Context(), s, w); return err }); err != nil {
			t.Fatal(err)
		}
	}
	_, want := fill(t, 3)
	var got []storage.Item
	summary, err := backup.ReadFile(name, func(i storage.Item) error { got = append(got, i); return nil })
	if err != nil || summary.Revision != 3 || !reflect.DeepEqual(got, want) {
		t.Errorf("ReadFile() = %+v, %v, items %v, want %v at revision 3", summary, err, got, want)
	}
}
