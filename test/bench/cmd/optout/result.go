package main

import (
	"fmt"

	"github.com/cadastre/cadastre/test/bench/serverbench"
	"github.com/cadastre/cadastre/test/bench/stat"
)

// turn is the result of one server in one round, per operation.
type turn struct {
	cpu            float64 // nanoseconds; for watch and begin per event and watcher
	change         float64 // nanoseconds per change, including its events to all watchers
	heap           float64 // bytes that the server allocated; for watch per change, including its events to all watchers
	heapPerWatcher float64 // allocated bytes per event and watcher: the difference to a change without watchers, divided by their number
	bytes          float64 // bytes per event
	resident       float64 // RSS of the server with all watchers, in bytes
}

// CPU and the methods below are figures for tables and ratios.
func (t turn) CPU() float64            { return t.cpu }
func (t turn) Change() float64         { return t.change }
func (t turn) Heap() float64           { return t.heap }
func (t turn) HeapPerWatcher() float64 { return t.heapPerWatcher }
func (t turn) Bytes() float64          { return t.bytes }
func (t turn) Resident() float64       { return t.resident }

// row is the results of a server for one type of request.
type row struct {
	server, requestType string
	answer              []byte  // the response; nil for watch
	event               float64 // bytes of an initial event
	client              serverbench.ClientCost
	stripped            *serverbench.ClientCost // with managedFields removed by the client
	turns               []turn
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

// result has all measurements of a case.
type result struct {
	testCase
	rows []*row
}

// find returns a row; nil if there is none.
func (r *result) find(server, requestType string) *row {
	for _, row := range r.rows {
		if row.server == server && row.requestType == requestType {
			return row
		}
	}
	return nil
}

// ratio returns a figure of ours divided by that of another row, round by round.
func (r *result) ratio(requestType, server, other string, figure func(turn) float64) (stat.Spread, bool) {
	ours, theirs := r.find(oursName, requestType), r.find(server, other)
	if ours == nil || theirs == nil {
		return stat.Spread{}, false
	}
	return stat.Ratio(ours.turns, theirs.turns, figure), true
}

// compared returns the CPU figure by which request types and servers are compared: the cost per watcher is measurable
// only with many watchers.
func (c testCase) compared() func(turn) float64 {
	if c.verb == "watch" && c.watchers < many {
		return turn.Change
	}
	return turn.CPU
}

// findings returns the figures that goals refer to.
func (r *result) findings() (found []stat.Finding) {
	add := func(what string, figure stat.Spread, ok bool) {
		if ok {
			found = append(found, stat.Found(r.name()+" "+what, figure))
		}
	}
	by := func(what, requestType, server, other string, figure func(turn) float64) {
		spread, ok := r.ratio(requestType, server, other, figure)
		add(what, spread, ok)
	}
	by("dropped CPU", dropped, oursName, full, r.compared())
	by("mixed CPU", mixed, oursName, full, r.compared())
	by("mixed heap", mixed, oursName, full, turn.Heap)
	by("mixed heap per watcher", mixed, oursName, full, turn.HeapPerWatcher)
	by("vs kube-apiserver", full, peerName, full, r.compared())
	for _, requestType := range []string{full, dropped, mixed} {
		by(requestType+" vs floor", requestType, floorName, requestType, r.compared())
	}
	share, ok := r.droppedShare()
	add("share", share, ok)
	return found
}

// droppedShare returns the share of the bytes of managedFields that are omitted.
func (r *result) droppedShare() (stat.Spread, bool) {
	whole, less := r.find(oursName, full), r.find(oursName, dropped)
	if whole == nil || less == nil || whole.answer == nil {
		return stat.Spread{}, false
	}
	share, err := serverbench.ManagedShare(r.media, whole.answer)
	if err != nil || share == 0 {
		fmt.Printf("%s: cannot determine the bytes of managedFields: %v\n", r.name(), err)
		return stat.Spread{}, false
	}
	return stat.Of([]float64{(whole.bytes() - less.bytes()) / float64(share)}), true
}
