package main

import (
	"fmt"
	"time"

	"github.com/cadastre/cadastre/test/bench/storebench"
)

// A benchCase is a load with a name, for one of our sides and maybe for etcd.
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

// watchers watch as many writers as the goals are about.
func watchers(count int) benchCase {
	return benchCase{name: fmt.Sprintf("watchers/%d", count), writers: 64, watchers: count, ours: storebench.Ours}
}

// cacheWatchers watch the cache. A few writers are enough to keep many of them at work.
func cacheWatchers(count, writers int) benchCase {
	return benchCase{name: fmt.Sprintf("cache/watchers/%d", count), writers: writers, watchers: count, ours: storebench.Cached}
}

func (c benchCase) withoutPeer() benchCase {
	c.noPeer = true
	return c
}

// load is that of the case.
func (c benchCase) load(o options) storebench.Load {
	return storebench.Load{
		Writers:  c.writers,
		Watchers: c.watchers,
		Warmup:   min(o.turn/4, time.Second),
		Window:   o.turn,
	}
}
