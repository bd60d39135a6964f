package storebench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
	"github.com/cadastre/cadastre/test/bench/proc"
)

// WatchCache runs a load on Cadastre's embedded store with the watch cache on top. Writers and watchers use the cache,
// in the same process.
func WatchCache(ctx context.Context, folder string, l Load) (Result, error) {
	return runChild[Result](ctx, cacheRole, parameters{Folder: folder, Load: l})
}

// runCache is the main function of the child process with store and cache. It reads its parameters from in, runs the
// load, and writes a Result to out.
func runCache(in io.Reader, out io.Writer) error {
	return runWithCache(in, out, func(o parameters, s storage.Store, c *watchcache.Cache) (any, error) {
		return o.Load.Run(context.Background(), cacheTarget{s, c, o.Load.Labelled})
	})
}

// runWithCache reads the parameters from in, opens the store and the cache in their folder, calls measure, and writes
// its result to out.
func runWithCache(in io.Reader, out io.Writer, measure func(parameters, storage.Store, *watchcache.Cache) (any, error)) (err error) {
	o, s, err := openRequested(in)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	c, err := openCache(s, false)
	if err != nil {
		return err
	}
	defer c.Close()
	result, err := measure(o, s, c)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(result)
}

// openCache opens a watch cache on s with the field selectors of pods, as a server does. If paced is set, the cache
// tunes the garbage collector.
func openCache(s storage.Store, paced bool) (*watchcache.Cache, error) {
	fields := []watchcache.Field{
		{Name: "spec.nodeName", Path: []string{"spec", "nodeName"}},
		{Name: "status.phase", Path: []string{"status", "phase"}},
	}
	return watchcache.Open(context.Background(), s, watchcache.Options{
		Fields: func(string) []watchcache.Field { return fields },
		PaceGC: paced,
		Log:    childLog(),
	})
}

type cacheTarget struct {
	store    storage.Store
	cache    *watchcache.Cache
	labelled bool
}

func (t cacheTarget) Commit(ctx context.Context, key string, expected int64, value []byte) (int64, error) {
	_, revision, err := t.cache.Commit(ctx, storage.Write{Key: key, Expected: storage.Revision(expected), Value: value})
	return int64(revision), err
}

func (t cacheTarget) Watch(ctx context.Context, w *Watcher) error {
	o := watchcache.WatchOptions{Selection: watchcache.Selection{Kind: kind}}
	if t.labelled {
		o.Labels = labels.SelectorFromSet(labels.Set{"app": fmt.Sprintf("app-%d", w.number)})
	}
	var err error
	if o.After, err = t.store.Revision(ctx); err != nil {
		return err
	}
	watcher, err := t.cache.Watch(ctx, o)
	if err != nil {
		return err
	}
	defer watcher.Close()
	w.Ready()
	for {
		events, err := watcher.Next(ctx)
		if errors.Is(err, watchcache.ErrTooOld) {
			return errCutOff
		}
		if err != nil {
			return err
		}
		w.Count(len(events))
	}
}

func (t cacheTarget) CPU() (time.Duration, error) { return proc.CPU(os.Getpid()) }
