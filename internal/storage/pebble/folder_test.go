package pebble

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/internal/storage"
)

func TestFolderIsLocked(t *testing.T) {
	folder := t.TempDir()
	s := open(t, Options{Folder: folder})
	_, err := Open(Options{Folder: folder})
	want := fmt.Sprintf("in use by process %d", os.Getpid())
	if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), folder) {
		t.Errorf("Open() = %v, want an error that %s is %s", err, folder, want)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := open(t, Options{Folder: folder}).Close(); err != nil {
		t.Fatal(err)
	}
}

func TestFolderOfAnotherFormat(t *testing.T) {
	for text, want := range map[string]string{
		"2\n":  "the folder has format 2, this program supports formats up to 1",
		"99":   "the folder has format 99",
		"what": "expected the number of a format",
	} {
		folder := t.TempDir()
		if err := open(t, Options{Folder: folder}).Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "FORMAT"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(Options{Folder: folder}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open() with FORMAT %q = %v, want %s", text, err, want)
		}
	}
}

func TestFolderOfAnotherProgram(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "photos.zip"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Options{Folder: folder}); err == nil || !strings.Contains(err.Error(), "photos.zip") {
		t.Errorf("Open() = %v, want an error that names photos.zip", err)
	}
}

func TestRevisionsSurviveRestarts(t *testing.T) {
	folder := t.TempDir()
	revision := storage.Revision(0)
	for round := range 5 {
		s := open(t, Options{Folder: folder})
		if now, _ := s.Revision(t.Context()); now != revision {
			t.Fatalf("round %d: Revision() = %d, want %d", round, now, revision)
		}
		next, err := s.Commit(t.Context(), storage.Write{Key: "a", Expected: revision, Value: []byte("x")})
		if err != nil || next != revision+1 {
			t.Fatalf("round %d: Commit() = %d, %v, want %d", round, next, err, revision+1)
		}
		// The last revision survives a compaction of the whole history.
		if err := s.Compact(t.Context(), next); err != nil {
			t.Fatal(err)
		}
		revision = next
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
