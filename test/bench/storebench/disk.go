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

// Disk contains the maximum rates of sequential synced writes on the disk of a folder, in values of ValueSize per
// second. They limit a single writer that waits for each commit.
type Disk struct {
	// Append is the rate of writes that extend the file.
	Append float64
	// Overwrite is the rate of writes within the file, as in logs that preallocate or recycle files. The file system
	// writes less metadata for them.
	Overwrite float64
}

// MeasureDisk measures both kinds of writes on the disk of folder, each for the duration turn in every round, and
// returns the medians of the rounds.
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

// syncedWrites returns the number of synced writes per second to a file with the given initial length in bytes.
func syncedWrites(ctx context.Context, folder string, turn time.Duration, length int) (rate float64, err error) {
	name := filepath.Join(folder, "disk")
	defer func() { err = errors.Join(err, os.Remove(name)) }()
	if err := os.WriteFile(name, make([]byte, length), 0o600); err != nil {
		return 0, err
	}
	syscall.Sync()
	// With O_DSYNC a write returns when its data, and the metadata that is needed to read it, are durable.
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
