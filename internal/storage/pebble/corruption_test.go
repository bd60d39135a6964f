package pebble

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/storage"
)

var flips = flag.Int("flips", 25, "the number of bits to flip in each file")

// TestCorruption flips random bits in every file of a store's folder. The corruption must either be reported with the name of
// the file or have no effect; wrong data must never be returned.
func TestCorruption(t *testing.T) {
	// If a store is killed immediately after a commit, its write-ahead log has no idle mark.
	for name, pause := range map[string]time.Duration{"idle": 5 * idleTime, "killed immediately": 0} {
		t.Run(name, func(t *testing.T) { testCorruption(t, pause) })
	}
}

func testCorruption(t *testing.T, pause time.Duration) {
	folder := t.TempDir()
	want := createCrashedStore(t, folder, pause)
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	reported := map[string]int{}
	for _, file := range files {
		whole, err := os.ReadFile(filepath.Join(folder, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for range min(len(whole), *flips) {
			at := r.IntN(len(whole))
			damaged := copyDir(t, folder)
			bytes := append([]byte(nil), whole...)
			bytes[at] ^= 1 << r.IntN(8)
			if err := os.WriteFile(filepath.Join(damaged, file.Name()), bytes, 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := readAll(damaged)
			switch {
			case err == nil && got != want:
				t.Errorf("%s, byte %d of %d: the data read differs from the data written", file.Name(), at, len(whole))
			case err != nil && !strings.Contains(err.Error(), fileNumber(file.Name())):
				t.Errorf("%s, byte %d of %d: the error %v does not name the file", file.Name(), at, len(whole), err)
			case err != nil:
				reported[kindOf(file.Name())]++
			}
			if err := os.RemoveAll(damaged); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, kind := range []string{"log", "sst", "MANIFEST"} {
		if reported[kind] < *flips/2 {
			t.Errorf("corruption of %s files was reported %d times, want at least %d: %v", kind, reported[kind], *flips/2, reported)
		}
	}
}

// createCrashedStore fills folder with the files of a store, tables and a write-ahead log, in the state after a crash of the
// process. pause is the time between the last commit and the crash. It returns the contents of the store as readAll does.
func createCrashedStore(t *testing.T, folder string, pause time.Duration) string {
	t.Helper()
	s := open(t, Options{Folder: folder})
	for i := range 40 {
		if _, err := s.Commit(t.Context(), storage.Write{Key: fmt.Sprintf("k/%d", i), Value: fmt.Appendf(nil, "%0500d", i)}); err != nil {
			t.Fatal(err)
		}
		if i == 20 {
			if err := s.db.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	// If pause is longer than idleTime, the store appends the idle mark to its log.
	time.Sleep(pause)
	crashed := copyDir(t, folder) // copied before Close, which would change the log
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(crashed, folder); err != nil {
		t.Fatal(err)
	}
	// The commits of this log are in tables already; Pebble would delete the log at some time.
	if err := os.Remove(filepath.Join(folder, "000002.log")); err != nil {
		t.Fatal(err)
	}
	all, err := readAll(copyDir(t, folder))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// readAll opens the store in folder and returns its items and its whole history as one text.
func readAll(folder string) (all string, err error) {
	s, err := Open(Options{Folder: folder, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return "", err
	}
	defer s.Close()
	page, err := s.List(context.Background(), storage.Range{})
	if err != nil {
		return "", err
	}
	commits, err := s.readAfter(0, 1000, "")
	return fmt.Sprint(page, commits), err
}

func copyDir(t *testing.T, folder string) string {
	t.Helper()
	to, err := os.MkdirTemp("", "corruption")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(to) })
	if err := os.CopyFS(to, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	return to
}

func kindOf(name string) string {
	if kind, _, ok := strings.Cut(name, "-"); ok {
		return kind
	}
	return strings.TrimPrefix(filepath.Ext(name), ".")
}

// fileNumber returns the part of the file name that error messages contain: the name without its extension.
func fileNumber(name string) string { return strings.TrimSuffix(name, filepath.Ext(name)) }
