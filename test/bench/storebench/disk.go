package storebench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/cadastre/cadastre/test/bench/stat"
)

// Disk is what a folder's disk can do at best: synced writes of a value per second, one after the other.
// A single writer that waits for each of its commits cannot be faster.
type Disk struct {
	// Append makes the file longer each time, Overwrite stays within it, as logs do that get their space
	// ahead or use their files again: the file system has less to write down.
	Append, Overwrite float64
}

// MeasureDisk takes so long for each kind of write, and takes the median of the rounds.
func MeasureDisk(ctx context.Context, folder string, turn time.Duration, rounds int) (Disk, error) {
	var appends, overwrites []float64
	for range rounds {
		a, err := syncedWrites(ctx, folder, turn, 0)
		if err != nil {
			return Disk{}, err
		}
		o, err := syncedWrites(ctx, folder, turn, 8<<20)
		if err != nil {
			return Disk{}, err
		}
		appends, overwrites = append(appends, a), append(overwrites, o)
	}
	return Disk{Append: stat.Of(appends).Median, Overwrite: stat.Of(overwrites).Median}, nil
}

// syncedWrites returns how many writes a second the disk does to a file that has some length already.
func syncedWrites(ctx context.Context, folder string, turn time.Duration, length int) (rate float64, err error) {
	name := filepath.Join(folder, "disk")
	defer func() { err = errors.Join(err, os.Remove(name)) }()
	if err := os.WriteFile(name, make([]byte, length), 0o600); err != nil {
		return 0, err
	}
	syscall.Sync()
	// With O_DSYNC a write returns when its bytes, and what is needed to find them, are on the disk.
	file, err := os.OpenFile(name, os.O_WRONLY|syscall.O_DSYNC, 0)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()

	values := newObjectSource(0, ValueSize)
	start, writes, at := time.Now(), 0, 0
	for ; time.Since(start) < turn && ctx.Err() == nil; writes++ {
		if _, err := file.WriteAt(values.next("disk", "item", writtenApp), int64(at)); err != nil {
			return 0, err
		}
		if at += ValueSize; length > 0 && at+ValueSize > length {
			at = 0
		}
	}
	return float64(writes) / time.Since(start).Seconds(), ctx.Err()
}
