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
	ours              storebench.Implementation
	skipEtcd          bool
}

var (
	commitCases = []benchCase{writers(1), writers(8), writers(64), writers(512)}
	watchCases  = []benchCase{watchers(1), watchers(100)}
	cacheCases  = []benchCase{
		cacheWatchers(1, 64), cacheWatchers(10, 64).withoutEtcd(), cacheWatchers(100, 64),
		cacheWatchers(1000, 8).withoutEtcd(), cacheWatchers(10_000, 8),
	}
)

func writers(count int) benchCase {
	return benchCase{name: fmt.Sprintf("writers/%d", count), writers: count, ours: storebench.EmbeddedStore}
}

// watchers returns a case with the given number of watchers and with 64 writers, as the goals require.
func watchers(count int) benchCase {
	return benchCase{name: fmt.Sprintf("watchers/%d", count), writers: 64, watchers: count, ours: storebench.EmbeddedStore}
}

// cacheWatchers returns a case with the given number of watchers of the watch cache. With many watchers, few writers
// cause enough events.
func cacheWatchers(count, writers int) benchCase {
	return benchCase{name: fmt.Sprintf("cache/watchers/%d", count), writers: writers, watchers: count, ours: storebench.WatchCache}
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
