package main

import "fmt"

// A benchCase is a load with a name.
type benchCase struct {
	name              string
	writers, watchers int
}

var (
	commitCases = []benchCase{writers(1), writers(8), writers(64), writers(512)}
	watchCases  = []benchCase{watchers(1), watchers(100)}
)

func writers(count int) benchCase {
	return benchCase{name: fmt.Sprintf("writers/%d", count), writers: count}
}

// watchers watch as many writers as the goals are about.
func watchers(count int) benchCase {
	return benchCase{name: fmt.Sprintf("watchers/%d", count), writers: 64, watchers: count}
}
