package pebble

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/internal/storage"
)

var writeFixture = flag.Bool("write-fixture", false, "write the fixture of the current format to testdata, if there is none")

// fixture returns the folder in testdata with a store of the given format.
func fixture(version int) string { return filepath.Join("testdata", fmt.Sprintf("format%d", version)) }

// fixtureCommits writes the contents of a fixture to s: items that were created, replaced and deleted, before and after a
// compaction, in tables and in the write-ahead log.
func fixtureCommits(t *testing.T, s *Store) {
	t.Helper()
	commit := func(writes ...storage.Write) storage.Revision {
		revision, err := s.Commit(t.Context(), writes...)
		if err != nil {
			t.Fatal(err)
		}
		return revision
	}
	first := commit(storage.Write{Key: "core/nodes/a", Value: []byte(`{"v":1}`)}, storage.Write{Key: "core/nodes/b", Value: []byte(`{"v":1}`)})
	second := commit(storage.Write{Key: "core/nodes/a", Expected: first, Value: []byte(`{"v":2}`)})
	commit(storage.Write{Key: "core/nodes/b", Expected: first})
	if err := s.Compact(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	if err := s.db.Flush(); err != nil {
		t.Fatal(err)
	}
	commit(storage.Write{Key: "core/nodes/c", Value: []byte(strings.Repeat("c", 3000))})
	commit(storage.Write{Key: "core/nodes/a", Expected: second, Value: []byte{}})
}

// TestFixtures opens stores that releases with each format have written. The fixtures must never be written again.
func TestFixtures(t *testing.T) {
	if _, err := os.Stat(fixture(format)); err != nil && *writeFixture {
		folder := t.TempDir()
		s := open(t, Options{Folder: folder})
		fixtureCommits(t, s)
		crashed := copyDir(t, folder)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(fixture(format), os.DirFS(crashed)); err != nil {
			t.Fatal(err)
		}
	}
	for version := 1; version <= format; version++ {
		folder := copyDir(t, fixture(version))
		if report, err := Check(Options{Folder: copyDir(t, folder)}, func(storage.Item) error { return nil }); err != nil || len(report.Problems) > 0 {
			t.Errorf("format %d: Check() = %q, %v, want no problems", version, report.Problems, err)
		}
		s, err := Open(Options{Folder: folder})
		if err != nil {
			t.Fatalf("format %d: Open() = %v; restore the code that opens it", version, err)
		}
		page, err := s.List(t.Context(), storage.Range{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, item := range page.Items {
			got += fmt.Sprintf("%s@%d=%.9s ", item.Key, item.Revision, item.Value)
		}
		if want := "core/nodes/a@5= core/nodes/c@4=ccccccccc "; got != want || page.Revision != 5 {
			t.Errorf("format %d: List() = %s at revision %d, want %s at revision 5", version, got, page.Revision, want)
		}
		if commits, err := s.readAfter(2, 10, ""); err != nil || len(commits) != 3 {
			t.Errorf("format %d: %d commits after revision 2, %v, want 3", version, len(commits), err)
		}
		if revision, err := s.Commit(t.Context(), storage.Write{Key: "core/nodes/d", Value: []byte("1")}); err != nil || revision != 6 {
			t.Errorf("format %d: Commit() = %d, %v, want revision 6", version, revision, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestFormatIncludesPebble: the fixture of the current format has the version of Pebble's files that new stores have. A newer
// version of Pebble's files needs a new format, so that older releases refuse the folder.
func TestFormatIncludesPebble(t *testing.T) {
	found, err := filepath.Glob(filepath.Join(fixture(format), "marker.format-version.*"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	if want := fmt.Sprintf(".%03d", pebbleFormat); filepath.Ext(found[0]) != want {
		t.Errorf("the fixture of format %d has %s, want the suffix %s; increment format and write its fixture with -write-fixture", format, filepath.Base(found[0]), want)
	}
}

// TestDowngradeChangesNothing: a release that does not support the format of a folder changes nothing in it.
func TestDowngradeChangesNothing(t *testing.T) {
	folder := copyDir(t, fixture(format))
	if err := os.WriteFile(filepath.Join(folder, "FORMAT"), fmt.Appendf(nil, "%d\n", format+1), 0o600); err != nil {
		t.Fatal(err)
	}
	files := func() string {
		text := ""
		err := filepath.WalkDir(folder, func(name string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			content, err := os.ReadFile(name)
			text += fmt.Sprintf("%s %x\n", name, content)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	before := files()
	_, openErr := Open(Options{Folder: folder})
	_, checkErr := Check(Options{Folder: folder}, func(storage.Item) error { return nil })
	for _, err := range []error{openErr, checkErr} {
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("the folder has format %d", format+1)) {
			t.Errorf("Open() or Check() = %v, want an error with the format", err)
		}
	}
	if files() != before {
		t.Error("the folder was changed")
	}
}
