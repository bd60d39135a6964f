package backup_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/lib/testwait"
	"github.com/cadastre/cadastre/internal/storage/backup"
)

// names returns the names of the files in a folder, separated by spaces.
func names(t *testing.T, folder string) string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var all []string
	for _, entry := range entries {
		all = append(all, entry.Name())
	}
	return strings.Join(all, " ")
}

// run runs a schedule until it has reported an attempt, and returns the error of the attempt.
func run(t *testing.T, c backup.Schedule) error {
	t.Helper()
	s, _ := fill(t, 10)
	ctx, cancel := context.WithCancel(t.Context())
	attempts := make(chan error, 100)
	c.Report = func(_ backup.Summary, err error) { attempts <- err }
	done := make(chan struct{})
	go func() { c.Run(ctx, s); close(done) }()
	err := <-attempts
	if err == nil {
		testwait.For(t, "the newest backup to be kept", func() bool { return strings.Count(names(t, c.Folder), "cadastre-") <= c.Keep })
	}
	cancel()
	<-done
	return err
}

// TestSchedule: the newest backups are kept, and other files are not deleted.
func TestSchedule(t *testing.T) {
	c := backup.Schedule{Folder: filepath.Join(t.TempDir(), "backups"), Interval: time.Hour, Keep: 2, Log: slog.New(slog.DiscardHandler)}
	if err := run(t, c); err != nil {
		t.Fatal(err)
	}
	first := names(t, c.Folder)
	if _, err := backup.ReadFile(filepath.Join(c.Folder, first), nil); err != nil {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(c.Folder, first)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"cadastre-20200101T000000Z.backup", "cadastre-20200102T000000Z.backup", "cadastre-20200103T000000Z.backup", "mine.backup"} {
		if err := os.WriteFile(filepath.Join(c.Folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(t, c); err != nil {
		t.Fatal(err)
	}
	kept := names(t, c.Folder)
	if strings.Count(kept, " ") != 2 || !strings.HasPrefix(kept, "cadastre-20200103T000000Z.backup cadastre-2") || !strings.HasSuffix(kept, " mine.backup") {
		t.Errorf("the folder contains %s, want the two newest backups and mine.backup", kept)
	}
}

// TestScheduleIsNotDue: no backup is written before it is due.
func TestScheduleIsNotDue(t *testing.T) {
	folder := t.TempDir()
	recent := "cadastre-" + time.Now().Add(-time.Minute).UTC().Format("20060102T150405Z") + ".backup"
	if err := os.WriteFile(filepath.Join(folder, recent), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s, _ := fill(t, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	backup.Schedule{Folder: folder, Interval: time.Hour, Keep: 1, Log: slog.New(slog.DiscardHandler), Report: func(backup.Summary, error) { t.Error("a backup was written") }}.Run(ctx, s)
	if got := names(t, folder); got != recent {
		t.Errorf("the folder contains %s, want %s", got, recent)
	}
}

// TestScheduleFails: a failed backup is reported and leaves no file.
func TestScheduleFails(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(folder, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s, _ := fill(t, 1)
	var log strings.Builder
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	backup.Schedule{Folder: folder, Interval: time.Hour, Keep: 1, Log: slog.New(slog.NewTextHandler(&log, nil)), Report: func(backup.Summary, error) {}}.Run(ctx, s)
	if !strings.Contains(log.String(), "a scheduled backup failed; retrying") {
		t.Errorf("log = %q, want the failure", log.String())
	}
}
