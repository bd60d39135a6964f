package main

import (
	"fmt"

	"github.com/cadastre/cadastre/test/bench/serverbench"
	"github.com/cadastre/cadastre/test/bench/stat"
)

// A turn is what one server came to in one round, an operation.
type turn struct {
	cpu      float64 // nanoseconds; of watches and their beginnings, an event and watcher
	change   float64 // nanoseconds of a change and its events to all watchers
	heap     float64 // bytes that the server took from its heap; of watches, for a change and its events to all watchers
	heard    float64 // bytes of these for an event and watcher: what a change took more than without watchers, by their number
	bytes    float64 // of an event
	resident float64 // bytes that the server had in memory with all watchers
}

// Figures are for tables and ratios.
func (t turn) CPU() float64      { return t.cpu }
func (t turn) Change() float64   { return t.change }
func (t turn) Heap() float64     { return t.heap }
func (t turn) Heard() float64    { return t.heard }
func (t turn) Bytes() float64    { return t.bytes }
func (t turn) Resident() float64 { return t.resident }

// A row is a server that is asked in one way.
type row struct {
	server, way string
	answer      []byte  // nil for watches
	event       float64 // bytes of one that a watch begins with
	client      serverbench.ClientCost
	stripped    *serverbench.ClientCost // where only the client leaves managedFields out
	turns       []turn
}

func (r *row) bytes() float64 {
	if r.answer != nil {
		return float64(len(r.answer))
	}
	if r.event != 0 {
		return r.event
	}
	return stat.Median(r.turns, turn.Bytes)
}

// A result is all that was measured about a case.
type result struct {
	testCase
	rows []*row
}

// find returns a row, or nil.
func (r *result) find(server, way string) *row {
	for _, row := range r.rows {
		if row.server == server && row.way == way {
			return row
		}
	}
	return nil
}

// ratio is a figure of a way of ours by that of another row, round by round.
func (r *result) ratio(way, server, other string, figure func(turn) float64) (stat.Spread, bool) {
	ours, theirs := r.find(oursName, way), r.find(server, other)
	if ours == nil || theirs == nil {
		return stat.Spread{}, false
	}
	return stat.Ratio(ours.turns, theirs.turns, figure), true
}

// compared is the CPU by which ways and servers are compared: what one more watcher costs is known only where there are
// many.
func (c testCase) compared() func(turn) float64 {
	if c.verb == "watch" && c.watchers < many {
		return turn.Change
	}
	return turn.CPU
}

// findings are what goals are about.
func (r *result) findings() (found []stat.Finding) {
	add := func(what string, figure stat.Spread, ok bool) {
		if ok {
			found = append(found, stat.Found(r.name()+" "+what, figure))
		}
	}
	by := func(what, way, server, other string, figure func(turn) float64) {
		spread, ok := r.ratio(way, server, other, figure)
		add(what, spread, ok)
	}
	by("dropped CPU", dropped, oursName, full, r.compared())
	by("mixed CPU", mixed, oursName, full, r.compared())
	by("mixed heap", mixed, oursName, full, turn.Heap)
	by("mixed heard", mixed, oursName, full, turn.Heard)
	by("by kube-apiserver", full, peerName, full, r.compared())
	for _, way := range []string{full, dropped, mixed} {
		by(way+" by floor", way, floorName, way, r.compared())
	}
	share, ok := r.droppedShare()
	add("share", share, ok)
	return found
}

// droppedShare is how many of the bytes that are managedFields are left out.
func (r *result) droppedShare() (stat.Spread, bool) {
	whole, less := r.find(oursName, full), r.find(oursName, dropped)
	if whole == nil || less == nil || whole.answer == nil {
		return stat.Spread{}, false
	}
	share, err := serverbench.ManagedShare(r.media, whole.answer)
	if err != nil || share == 0 {
		fmt.Printf("%s: how many bytes are managedFields is not known: %v\n", r.name(), err)
		return stat.Spread{}, false
	}
	return stat.Of([]float64{(whole.bytes() - less.bytes()) / float64(share)}), true
}
