package backup

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/cadastre/cadastre/internal/storage"
)

// Schedule configures periodic backups of a store. All fields are required.
type Schedule struct {
	// Folder is the folder of the backups, which is created if it does not exist.
	Folder string
	// Interval is the time between the start of two backups. Keep is the number of backups to keep: after a backup was written, the
	// oldest ones are deleted.
	Interval time.Duration
	Keep     int
	Log      *slog.Logger
	// Report is called after each attempt.
	Report func(Summary, error)
}

// fileTime is the format of the time in the names of backups, in UTC. Names sort by time.
const fileTime = "20060102T150405Z"

// maxRetryDelay is the maximum delay before a failed backup is retried.
const maxRetryDelay = time.Minute

// Run writes backups of s until ctx ends. The first backup is due Interval after the newest backup in the folder, so that a restart
// does not change the schedule.
func (c Schedule) Run(ctx context.Context, s storage.Store) {
	for {
		delay, err := c.delay(time.Now())
		if err == nil && delay <= 0 {
			err = c.write(ctx, s)
			delay = c.Interval
		}
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			delay = min(c.Interval, maxRetryDelay)
			c.Log.Error("a scheduled backup failed; retrying", "folder", c.Folder, "after", delay, "error", err)
		}
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return
		}
	}
}

// delay returns the time until the next backup is due; it is not positive if one is due now.
func (c Schedule) delay(now time.Time) (time.Duration, error) {
	backups, err := c.backups()
	if err != nil || len(backups) == 0 {
		return 0, err
	}
	newest := backups[len(backups)-1].when
	if newest.After(now) { // the clock was set back
		return 0, nil
	}
	return newest.Add(c.Interval).Sub(now), nil
}

// write writes one backup and deletes the oldest ones.
func (c Schedule) write(ctx context.Context, s storage.Store) error {
	if err := os.MkdirAll(c.Folder, 0o700); err != nil {
		return err
	}
	start := time.Now()
	name := filepath.Join(c.Folder, "cadastre-"+start.UTC().Format(fileTime)+".backup")
	summary, err := WriteFile(name, func(w io.Writer) error {
		_, err := Write(ctx, s, w)
		return err
	})
	c.Report(summary, err)
	if err != nil {
		return err
	}
	c.Log.Info("wrote a backup", "file", name, "revision", summary.Revision, "items", summary.Items, "duration", time.Since(start))
	return c.prune()
}

// prune deletes the oldest backups until Keep are left. It deletes only files with the names of scheduled backups.
func (c Schedule) prune() error {
	backups, err := c.backups()
	if err != nil {
		return err
	}
	for len(backups) > c.Keep {
		err = errors.Join(err, os.Remove(filepath.Join(c.Folder, backups[0].name)))
		backups = backups[1:]
	}
	return err
}

// scheduledBackup is a file that write has written, and the time in its name.
type scheduledBackup struct {
	name string
	when time.Time
}

// backups returns the scheduled backups in the folder, oldest first.
func (c Schedule) backups() ([]scheduledBackup, error) {
	entries, err := os.ReadDir(c.Folder)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var found []scheduledBackup
	for _, entry := range entries {
		if when, err := time.Parse("cadastre-"+fileTime+".backup", entry.Name()); err == nil && entry.Type().IsRegular() {
			found = append(found, scheduledBackup{entry.Name(), when})
		}
	}
	slices.SortFunc(found, func(a, b scheduledBackup) int { return a.when.Compare(b.when) })
	return found, err
}
