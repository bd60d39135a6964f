package main

import "github.com/cadastre/cadastre/test/bench/stat"

var goals = []stat.Goal{
	stat.NewGoal("64 writers: at least 3x etcd's commits", "writers/64 faster", stat.AtLeast(3), stat.Times),
	stat.NewGoal("64 writers: at most half etcd's CPU per commit", "writers/64 cheaper", stat.AtLeast(2), stat.Times),
	stat.NewGoal("100 watchers: 1,000,000 events a second", "cache/watchers/100 events", stat.AtLeast(1e6), stat.Count),
	stat.NewGoal("10,000 watchers: 1,000,000 events a second", "cache/watchers/10000 events", stat.AtLeast(1e6), stat.Count),
	stat.NewGoal("10,000 watchers: all events delivered, no watcher cut off", "cache/watchers/10000 lost", stat.AtMost(0), stat.Count),
	stat.NewGoal("CPU per event grows at most 2x from 100 watchers", "cache/watchers growth", stat.AtMost(2), stat.Times),
	stat.NewGoal("10,000 watchers of other labels cost nothing", "cache/labels/10000 cost", stat.AtMost(1.1), stat.Times2),
	stat.NewGoal("100,000 objects: listed at half memcpy's speed", "cache/list/100000 whole", stat.AtLeast(0.5), stat.Times2),
	stat.NewGoal("100,000 objects: opened in 1 s", "cache/open/100000 time", stat.AtMost(1), stat.Seconds),
	stat.NewGoal("1,000,000 objects: opened in 10 s", "cache/open/1000000 time", stat.AtMost(10), stat.Seconds),
	stat.NewGoal("1,000,000 objects: live heap 1.5x their bytes", "cache/open/1000000 live", stat.AtMost(1.5), stat.Times2),
	stat.NewGoal("1,000,000 objects: resident 1.5x, at work", "cache/open/1000000/paced resident", stat.AtMost(1.5), stat.Times2),
}
