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

// Cached is our store with the cache before it: whoever writes or watches does so through the cache, in
// its process.
func Cached(ctx context.Context, folder string, l Load) (Result, error) {
	return ask[Result](ctx, cacheRole, order{Folder: folder, Load: l})
}

// runCache is the process of our side with the cache: it answers an order with a Result.
func runCache(in io.Reader, out io.Writer) error {
	return answerWithCache(in, out, func(o order, s storage.Store, c *watchcache.Cache) (any, error) {
		return o.Load.Run(context.Background(), cacheTarget{s, c, o.Load.Labelled})
	})
}

// answerWithCache opens store and cache in the folder of an order, and answers it.
func answerWithCache(in io.Reader, out io.Writer, answer func(order, storage.Store, *watchcache.Cache) (any, error)) (err error) {
	o, s, err := openOrdered(in)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	c, err := openCache(s, false)
	if err != nil {
		return err
	}
	defer c.Close()
	answered, err := answer(o, s, c)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(answered)
}

// openCache opens a cache as a server would: pods can be selected by more than their names.
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
