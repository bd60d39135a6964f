package storebench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/cadastre/cadastre/internal/store"
	"github.com/cadastre/cadastre/internal/store/local"
)

// Ours is our side. The store is a library, so the load runs in its process.
func Ours(ctx context.Context, folder string, l Load) (Result, error) {
	c, err := startChild(ctx, localRole, order{Folder: folder, Load: l})
	if err != nil {
		return Result{}, err
	}
	var result Result
	err = errors.Join(c.read(&result), c.stop())
	return result, err
}

// runLocal is the process of our side: it answers an order with a Result.
func runLocal(in io.Reader, out io.Writer) (err error) {
	var o order
	if err := json.NewDecoder(in).Decode(&o); err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	s, err := local.Open(local.Options{Folder: o.Folder, Log: log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	result, err := o.Load.Run(context.Background(), localTarget{s})
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(result)
}

type localTarget struct{ store store.Store }

// Commit copies the value: the store keeps what it is given, and a server would have read it from a
// request into memory of its own.
func (t localTarget) Commit(ctx context.Context, key string, expected int64, value []byte) (int64, error) {
	revision, err := t.store.Commit(ctx, store.Write{Key: key, Expected: store.Revision(expected), Value: bytes.Clone(value)})
	return int64(revision), err
}

func (t localTarget) Watch(ctx context.Context, count func(events int)) error {
	now, err := t.store.Revision(ctx)
	if err != nil {
		return err
	}
	watcher, err := t.store.Watch(ctx, "", now)
	if err != nil {
		return err
	}
	defer watcher.Close()
	for {
		batch, err := watcher.Next(ctx)
		if err != nil {
			return err
		}
		count(len(batch.Events))
	}
}

func (t localTarget) CPU() (time.Duration, error) { return cpuTime(os.Getpid()) }
