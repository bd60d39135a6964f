package reload

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cadastre/cadastre/internal/lib/testwait"
)

// loads records the contents with which a source was loaded. Contents that contain "bad" are rejected.
type loads struct {
	mu   sync.Mutex
	seen []string
	errs []error
}

func (l *loads) load(_ context.Context, contents [][]byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := string(bytes.Join(contents, []byte("+")))
	if strings.Contains(all, "bad") {
		return errors.New("bad content")
	}
	l.seen = append(l.seen, all)
	return nil
}

func (l *loads) report(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.errs = append(l.errs, err)
}

// newest returns the content that is in effect.
func (l *loads) newest() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seen[len(l.seen)-1]
}

func (l *loads) count() (loaded, failed int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, err := range l.errs {
		if err != nil {
			failed++
		}
	}
	return len(l.seen), failed
}

// syncBuffer is a bytes.Buffer for concurrent use.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// start adds a source of two files and runs a reloader for the duration of the test.
func start(t *testing.T, l *loads) (r *Reloader, first, second string, log *syncBuffer) {
	t.Helper()
	first, second = filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "second")
	write(t, first, "a1")
	write(t, second, "b1")
	log = &syncBuffer{}
	r = New(slog.New(slog.NewTextHandler(log, nil)))
	if err := r.Add(t.Context(), Source{Name: "pair", Files: []string{first, second}, Load: l.load, Report: l.report}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); r.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return r, first, second, log
}

// TestChangedFiles checks that a change of one file, also by a rename, loads all files of the source, and that a bad content keeps the
// previous one and is reported once.
func TestChangedFiles(t *testing.T) {
	var l loads
	_, first, second, log := start(t, &l)
	if got := l.newest(); got != "a1+b1" {
		t.Fatalf("content after Add = %s, want a1+b1", got)
	}
	write(t, second, "b2")
	testwait.For(t, "the change of one file", func() bool { return l.newest() == "a1+b2" })
	write(t, first, "bad")
	testwait.For(t, "the error of a bad file", func() bool { _, failed := l.count(); return failed == 1 })
	if got := l.newest(); got != "a1+b2" {
		t.Errorf("content after a bad file = %s, want a1+b2", got)
	}
	write(t, first+".new", "a3")
	if err := os.Rename(first+".new", first); err != nil {
		t.Fatal(err)
	}
	testwait.For(t, "the change by a rename", func() bool { return l.newest() == "a3+b2" })
	write(t, first, "a4")
	testwait.For(t, "a change after the rename", func() bool { return l.newest() == "a4+b2" })
	for _, want := range []string{`level=INFO msg=reloaded what=pair`, `level=ERROR msg="reload failed; the previous content stays in effect" what=pair`, "bad content"} {
		if got := log.String(); !strings.Contains(got, want) {
			t.Errorf("log = %s, want it to contain %s", got, want)
		}
	}
	if got := strings.Count(log.String(), "level=ERROR"); got != 1 {
		t.Errorf("log = %s, want one error", log)
	}
}

// TestReload checks that Reload loads unchanged files, and reports a file that is still bad again.
func TestReload(t *testing.T) {
	var l loads
	r, first, _, _ := start(t, &l)
	r.Reload()
	testwait.For(t, "the load of unchanged files", func() bool { loaded, _ := l.count(); return loaded == 2 })
	write(t, first, "bad")
	testwait.For(t, "the error of a bad file", func() bool { _, failed := l.count(); return failed == 1 })
	r.Reload()
	testwait.For(t, "the repeated error", func() bool { _, failed := l.count(); return failed == 2 })
}

// TestTemporaryErrors checks that unchanged contents are loaded again after a temporary error, and not after another error.
func TestTemporaryErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "1")
	var result error
	loaded := 0
	s := &source{log: slog.New(slog.DiscardHandler), Source: Source{Files: []string{file}, Load: func(context.Context, [][]byte) error {
		loaded++
		return result
	}}}
	for _, step := range []struct {
		result error
		want   int
	}{
		{Temporary(errors.New("not yet")), 1}, {errors.New("never"), 2}, {nil, 2},
	} {
		result = step.result
		s.load(t.Context(), false)
		if loaded != step.want {
			t.Errorf("loads before the result %v = %d, want %d", step.result, loaded, step.want)
		}
	}
}

// TestAddErrors checks that Add returns the errors of missing and of bad files.
func TestAddErrors(t *testing.T) {
	var l loads
	r := New(slog.New(slog.DiscardHandler))
	file := filepath.Join(t.TempDir(), "file")
	for _, want := range []string{"no such file", "bad content"} {
		if err := r.Add(t.Context(), Source{Name: "x", Files: []string{file}, Load: l.load}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Add() = %v, want an error that contains %q", err, want)
		}
		write(t, file, "bad")
	}
	if len(r.sources) != 0 {
		t.Errorf("sources after errors = %d, want 0", len(r.sources))
	}
}
