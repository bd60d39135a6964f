package main

import (
	"fmt"
	"time"

	"github.com/cadastre/cadastre/test/bench/storebench"
)

// benchCase is a named load for one of our sides, and usually for etcd.
type benchCase struct {
	name              string
	writers, watchers int
	ours              storebench.Side
	noPeer            bool
}

var (
	commitCases = []benchCase{writers(1), writers(8), writers(64), writers(512)}
	watchCases  = []benchCase{watchers(1), watchers(100)}
	cacheCases  = []benchCase{
		cacheWatchers(1, 64), cacheWatchers(10, 64).withoutPeer(), cacheWatchers(100, 64),
		cacheWatchers(1000, 8).withoutPeer(), cacheWatchers(10_000, 8),
	}
)

func writers(count int) benchCase {
	return benchCase{name: fmt.Sprintf("writers/%d", count), writers: count, ours: storebench.Ours}
}

// watchers returns a case with the number of writers of the goals.
func watchers(count int) benchCase {
	return benchCase{name: fmt.Sprintf("watchers/%d", count), writers: 64, watchers: count, ours: storebench.Ours}
}

// cacheWatchers returns a case with watchers of the cache. A few writers are enough for many watchers.
func cacheWatchers(count, writers int) benchCase {
	return benchCase{name: fmt.Sprintf("cache/watchers/%d", count), writers: writers, watchers: count, ours: storebench.Cached}
}

func (c benchCase) withoutPeer() benchCase {
	c.noPeer = true
	return c
}

// load returns the load of the case.
func (c benchCase) load(o options) storebench.Load {
	return storebench.Load{
		Writers:  c.writers,
		Watchers: c.watchers,
		Warmup:   min(o.turn/4, time.Second),
		Window:   o.turn,
	}
}
