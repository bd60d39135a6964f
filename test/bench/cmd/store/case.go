package main

import (
	"fmt"
	"time"

	"github.com/cadastre/cadastre/test/bench/storebench"
)

// benchCase is a named load on the embedded store or the watch cache and, unless skipEtcd is set, on etcd.
type benchCase struct {
	name              string
	writers, watchers int
	cadastre          storebench.Implementation
	skipEtcd          bool
}

var (
	commitCases = []benchCase{writerCase(1), writerCase(8), writerCase(64), writerCase(512)}
	watchCases  = []benchCase{watcherCase(1), watcherCase(100)}
	cacheCases  = []benchCase{
		cacheWatcherCase(1, 64), cacheWatcherCase(10, 64).withoutEtcd(), cacheWatcherCase(100, 64),
		cacheWatcherCase(1000, 8).withoutEtcd(), cacheWatcherCase(10_000, 8),
	}
)

func writerCase(count int) benchCase {
	return benchCase{name: fmt.Sprintf("writers/%d", count), writers: count, cadastre: storebench.EmbeddedStore}
}

// watcherCase returns a case with the given number of watchers and with 64 writers, as the goals require.
func watcherCase(count int) benchCase {
	return benchCase{name: fmt.Sprintf("watchers/%d", count), writers: 64, watchers: count, cadastre: storebench.EmbeddedStore}
}

// cacheWatcherCase returns a case with the given number of watchers of the watch cache. With many watchers, few writers
// cause enough events.
func cacheWatcherCase(count, writers int) benchCase {
	return benchCase{name: fmt.Sprintf("cache/watchers/%d", count), writers: writers, watchers: count, cadastre: storebench.WatchCache}
}

func (c benchCase) withoutEtcd() benchCase {
	c.skipEtcd = true
	return c
}

// load returns the load of the case, with the duration of a turn from the options.
func (c benchCase) load(o options) storebench.Load {
	return storebench.Load{
		Writers:  c.writers,
		Watchers: c.watchers,
		Warmup:   min(o.turn/4, time.Second),
		Window:   o.turn,
	}
}
