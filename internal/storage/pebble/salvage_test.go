package pebble

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/internal/storage"
)

// createStore fills a folder with items in tables and in the write-ahead log, of which some were deleted and some replaced, and
// returns a copy of the folder after a crash, and the items.
func createStore(t *testing.T, items int) (folder string, want map[string]string) {
	t.Helper()
	own := t.TempDir()
	s := open(t, Options{Folder: own})
	want = map[string]string{}
	last := map[string]storage.Revision{}
	write := func(i int, value []byte) {
		key := fmt.Sprintf("core/configmaps/default/c%05d", i)
		revision, err := s.Commit(t.Context(), storage.Write{Key: key, Expected: last[key], Value: value})
		if err != nil {
			t.Fatal(err)
		}
		last[key], want[key] = revision, string(value)
		if value == nil {
			delete(last, key)
			delete(want, key)
		}
	}
	for i := range items {
		write(i, fmt.Appendf(nil, `{"n":"%0800d"}`, i))
	}
	for i := 0; i < items; i += 7 {
		write(i, nil)
	}
	revision, err := s.Revision(t.Context())
	if err == nil {
		err = s.Compact(t.Context(), revision)
	}
	if err == nil {
		err = s.db.Flush()
	}
	if err == nil {
		err = s.db.Compact(t.Context(), []byte{0}, []byte{255}, false)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i < items; i += 5 {
		write(i, fmt.Appendf(nil, `{"n":"new%0800d"}`, i))
	}
	folder = copyDir(t, own)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return folder, want
}

// contents returns the items as a map.
func contents(items []storage.Item) map[string]string {
	found := map[string]string{}
	for _, item := range items {
		found[item.Key] = string(item.Value)
	}
	return found
}

func salvage(t *testing.T, folder string) *Salvaged {
	t.Helper()
	result, err := Salvage(Options{Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// flip changes a byte of a file.
func flip(t *testing.T, name string, at int) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text[at] ^= 0x10
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// largest returns the largest file in folder whose name has the suffix, and its size.
func largest(t *testing.T, folder, suffix string) (name string, size int) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, "*"+suffix))
	if err != nil {
		t.Fatal(err)
	}
	for _, candidate := range found {
		if info, err := os.Stat(candidate); err == nil && int(info.Size()) > size {
			name, size = candidate, int(info.Size())
		}
	}
	if name == "" {
		t.Fatalf("%s: found no *%s", folder, suffix)
	}
	return name, size
}

// TestSalvageUndamaged: everything in an undamaged store is salvaged, and nothing that was deleted.
func TestSalvageUndamaged(t *testing.T) {
	folder, want := createStore(t, 500)
	result := salvage(t, folder)
	if len(result.Losses) > 0 {
		t.Errorf("Losses = %q, want none", result.Losses)
	}
	compareContents(t, result, want)
	s := open(t, Options{Folder: folder})
	defer s.Close()
	if revision, err := s.Revision(t.Context()); err != nil || result.Revision != revision {
		t.Errorf("Revision = %d, want %d, %v", result.Revision, revision, err)
	}
}

func compareContents(t *testing.T, result *Salvaged, want map[string]string) {
	t.Helper()
	got := contents(result.Items)
	for key, value := range want {
		if got[key] != value {
			t.Errorf("%s = %.40q, want %.40q", key, got[key], value)
		}
	}
	for key := range got {
		if _, ok := want[key]; !ok {
			t.Errorf("%s was deleted, and reappeared", key)
		}
	}
}

// TestSalvageDamagedBlocks: damaged blocks of a table cost only their items, and the report names the range.
func TestSalvageDamagedBlocks(t *testing.T) {
	folder, want := createStore(t, 1000)
	name, size := largest(t, folder, ".sst")
	flip(t, name, size/4)
	flip(t, name, size/2)
	result := salvage(t, folder)
	got := contents(result.Items)
	lost := 0
	for key, value := range want {
		if got[key] == value {
			continue
		}
		if lost++; !covers(result.Losses, key) {
			t.Errorf("%s is lost, but not reported: %q", key, result.Losses)
		}
	}
	if lost == 0 || lost > 200 {
		t.Errorf("%d of %d items are lost, want those of two blocks", lost, len(want))
	}
	for key := range got {
		if _, ok := want[key]; !ok {
			t.Errorf("%s was deleted, and reappeared", key)
		}
	}
}

// covers reports whether one of the losses names key, or a range that contains it.
func covers(losses []string, key string) bool {
	return slices.ContainsFunc(losses, func(loss string) bool {
		if strings.HasPrefix(loss, key+":") {
			return true
		}
		_, after, ok := strings.Cut(loss, "items from ")
		if !ok {
			return false
		}
		after, _ = strings.CutSuffix(after, " are lost or outdated")
		from, to, bounded := strings.Cut(after, " to ")
		return key >= from && (!bounded || key <= to)
	})
}

// TestSalvageDamagedLog: a damaged write-ahead log costs only the commits of the damaged chunks.
func TestSalvageDamagedLog(t *testing.T) {
	folder, want := createStore(t, 500)
	logs, err := filepath.Glob(filepath.Join(folder, "*.log"))
	if err != nil || len(logs) == 0 {
		t.Fatal(logs, err)
	}
	name, size := largest(t, folder, filepath.Base(slices.Max(logs)))
	flip(t, name, size/3)
	result := salvage(t, folder)
	got := contents(result.Items)
	differ := 0
	for key, value := range want {
		if got[key] != value {
			differ++
		}
	}
	if differ > 1 || len(result.Losses) == 0 {
		t.Errorf("%d items differ, want at most that of one commit; Losses = %q, want the log", differ, result.Losses)
	}
}

// TestSalvageWithoutManifest: without a manifest all files are read, and the report states this.
func TestSalvageWithoutManifest(t *testing.T) {
	folder, want := createStore(t, 500)
	name, size := largest(t, folder, "MANIFEST-000001")
	if err := os.WriteFile(name, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	result := salvage(t, folder)
	got := contents(result.Items)
	for key, value := range want {
		if got[key] != value {
			t.Errorf("%s = %.40q, want %.40q", key, got[key], value)
		}
	}
	if len(result.Losses) == 0 || !strings.Contains(strings.Join(result.Losses, "\n"), "the manifest cannot be read") {
		t.Errorf("Losses = %q, want the manifest", result.Losses)
	}
}

// TestCheck: Check accepts an undamaged store, and reports damage of every kind.
func TestCheck(t *testing.T) {
	folder, want := createStore(t, 300)
	accept := func(storage.Item) error { return nil }
	report, err := Check(Options{Folder: copyDir(t, folder)}, accept)
	if err != nil || len(report.Problems) > 0 || report.Items != len(want) || report.Commits != 60 || report.Tables == 0 {
		t.Fatalf("Check() = %+v, %v, want no problems and %d items", report, err, len(want))
	}
	if report, err := Check(Options{Folder: copyDir(t, folder)}, func(i storage.Item) error { return fmt.Errorf("%s is odd", i.Key) }); err != nil || len(report.Problems) != len(want) {
		t.Errorf("Check() = %d problems, %v, want one for each of %d items", len(report.Problems), err, len(want))
	}
	damaged := copyDir(t, folder)
	name, size := largest(t, damaged, ".sst")
	flip(t, name, size/2)
	if report, err := Check(Options{Folder: damaged}, accept); err != nil || !strings.Contains(strings.Join(report.Problems, "\n"), filepath.Base(name)+" is damaged") {
		t.Errorf("Check() with a damaged table = %q, %v, want its name", report.Problems, err)
	}
	if _, err := Check(Options{Folder: t.TempDir()}, accept); err == nil || !strings.Contains(err.Error(), "expected a store") {
		t.Errorf("Check() of an empty folder = %v, want an error", err)
	}
}

// TestCheckRecords: Check finds records that contradict each other although all checksums are correct.
func TestCheckRecords(t *testing.T) {
	whole, _ := createStore(t, 300)
	for name, test := range map[string]struct {
		change func(s *Store) error
		want   string
	}{
		"version without log record": {func(s *Store) error {
			return s.db.Set(appendVersion(nil, "core/nodes/n", 400), []byte("\x01{}"), nil)
		}, "the log lists 60 changes, found 61 versions"},
		"version from the future": {func(s *Store) error {
			return s.db.Set(appendVersion(nil, "core/nodes/n", 9999), []byte("\x01{}"), nil)
		}, "found revision 9999, the last commit has revision"},
		"obsolete version": {func(s *Store) error {
			return s.db.Set(appendVersion(nil, "core/configmaps/default/c00002", 1), []byte("\x01{}"), nil)
		}, "c00002: revision 1 is obsolete"},
		"missing version": {func(s *Store) error {
			return s.db.Delete(appendVersion(nil, "core/configmaps/default/c00001", 344), nil)
		}, "c00001: the log lists a change at revision 344, which is missing"},
		"malformed record": {func(s *Store) error { return s.db.Set([]byte("dx"), []byte("\x01"), nil) }, `the record "dx" is malformed`},
		"gap in the log":   {func(s *Store) error { return s.db.Delete(appendLogKey(nil, 350), nil) }, "the commits from revision 350 to 350 are missing"},
		"other size": {func(s *Store) error {
			return s.db.Set(appendVersion(nil, "core/configmaps/default/c00001", 344), []byte("\x01{}"), nil)
		}, "found 2 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := copyDir(t, whole)
			s := open(t, Options{Folder: folder})
			if err := test.change(s); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil && name != "gap in the log" {
				t.Fatal(err)
			}
			report, err := Check(Options{Folder: folder}, func(storage.Item) error { return nil })
			if err != nil || !strings.Contains(strings.Join(report.Problems, "\n"), test.want) {
				t.Errorf("Check() = %q, %v, want %q", report.Problems, err, test.want)
			}
		})
	}
}

// TestRestore: a restored store has the items at their revisions, continues after its revision, and passes Check.
func TestRestore(t *testing.T) {
	items := []storage.Item{
		{Key: "core/nodes/a", Value: []byte(`{"a":1}`), Revision: 3},
		{Key: "core/nodes/b", Value: []byte{}, Revision: 7},
	}
	fill := func(add func(storage.Item) error) error {
		for _, item := range items {
			if err := add(item); err != nil {
				return err
			}
		}
		return nil
	}
	folder := filepath.Join(t.TempDir(), "data", "store")
	if err := Restore(Options{Folder: folder}, 1000, fill); err != nil {
		t.Fatal(err)
	}
	if err := Restore(Options{Folder: folder}, 1000, fill); err == nil || !strings.Contains(err.Error(), "expected no folder or an empty one") {
		t.Errorf("Restore() over a store = %v, want an error", err)
	}
	report, err := Check(Options{Folder: folder}, func(storage.Item) error { return nil })
	if err != nil || len(report.Problems) > 0 || report.Items != 2 || report.Revision != 1000 {
		t.Errorf("Check() = %+v, %v, want no problems, 2 items and revision 1000", report, err)
	}
	s := open(t, Options{Folder: folder})
	defer s.Close()
	page, err := s.List(t.Context(), storage.Range{})
	if err != nil || page.Revision != 1000 || fmt.Sprint(page.Items) != fmt.Sprint(items) {
		t.Errorf("List() = %v, %v, want %v at revision 1000", page, err, items)
	}
	if revision, err := s.Commit(t.Context(), storage.Write{Key: "core/nodes/a", Expected: 3, Value: []byte("2")}); err != nil || revision != 1001 {
		t.Errorf("Commit() = %d, %v, want revision 1001", revision, err)
	}
}

// TestRestoreFails: a failed Restore leaves no folder.
func TestRestoreFails(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "store")
	err := Restore(Options{Folder: folder}, 5, func(add func(storage.Item) error) error {
		return add(storage.Item{Key: "core/nodes/a", Value: []byte("{}"), Revision: 6})
	})
	if err == nil || !strings.Contains(err.Error(), "expected a revision from 1 to 5, received 6") {
		t.Errorf("Restore() = %v, want an error", err)
	}
	if left, err := os.ReadDir(filepath.Dir(folder)); err != nil || len(left) > 0 {
		t.Errorf("the parent folder contains %v, %v, want nothing", left, err)
	}
}
