package storebench

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/storage/pebble"
	"github.com/cadastre/cadastre/test/bench/proc"
)

// EmbeddedStore runs a load on Cadastre's embedded store, in a child process. The store is a library, so the load runs
// in the same process as the store.
func EmbeddedStore(ctx context.Context, folder string, l Load) (Result, error) {
	return runChild[Result](ctx, localRole, parameters{Folder: folder, Load: l})
}

// runLocal is the main function of the child process with the embedded store. It reads its parameters from in, runs the
// load, and writes a Result to out.
func runLocal(in io.Reader, out io.Writer) (err error) {
	o, s, err := openRequested(in)
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

// openRequested reads the parameters from in, and opens the store in the folder that they name.
func openRequested(in io.Reader) (parameters, *pebble.Store, error) {
	var o parameters
	if err := json.NewDecoder(in).Decode(&o); err != nil {
		return parameters{}, nil, err
	}
	s, err := openLocal(o.Folder)
	return o, s, err
}

func openLocal(folder string) (*pebble.Store, error) {
	return pebble.Open(pebble.Options{Folder: folder, Log: childLog()})
}

// childLog returns the logger of child processes, which writes warnings and errors to stderr.
func childLog() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

type localTarget struct{ store storage.Store }

func (t localTarget) Commit(ctx context.Context, key string, expected int64, value []byte) (int64, error) {
	revision, err := t.store.Commit(ctx, storage.Write{Key: key, Expected: storage.Revision(expected), Value: value})
	return int64(revision), err
}

func (t localTarget) Watch(ctx context.Context, w *Watcher) error {
	now, err := t.store.Revision(ctx)
	if err != nil {
		return err
	}
	watcher, err := t.store.Watch(ctx, "", now)
	if err != nil {
		return err
	}
	defer watcher.Close()
	w.Ready()
	for {
		batch, err := watcher.Next(ctx)
		if errors.Is(err, storage.ErrCompacted) {
			return errCutOff
		}
		if err != nil {
			return err
		}
		w.Count(len(batch.Events))
	}
}

func (t localTarget) CPU() (time.Duration, error) { return proc.CPU(os.Getpid()) }
