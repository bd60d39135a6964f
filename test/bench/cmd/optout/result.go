package main

import (
	"fmt"

	"github.com/cadastre/cadastre/test/bench/serverbench"
	"github.com/cadastre/cadastre/test/bench/stat"
)

// turn contains the costs per operation of one server in one round.
type turn struct {
	cpu            float64 // nanoseconds per operation; for the verbs watch and begin, nanoseconds per event and watcher
	change         float64 // nanoseconds per change, including its events to all watchers
	heap           float64 // bytes that the server allocated per operation; for watch per change, including its events
	heapPerWatcher float64 // bytes allocated per event and watcher: the difference to a change without watchers, divided by the number of watchers
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

// row contains the results of one server for one request type.
type row struct {
	server, requestType string
	body                []byte  // the body of the response; nil for watch and begin
	event               float64 // the mean size of an initial event in bytes; only for begin
	client              serverbench.ClientCost
	stripped            *serverbench.ClientCost // the cost of a client that removes managedFields itself; nil unless measured
	turns               []turn
}

func (r *row) bytes() float64 {
	if r.body != nil {
		return float64(len(r.body))
	}
	if r.event != 0 {
		return r.event
	}
	return stat.Median(r.turns, turn.Bytes)
}

// result contains all measurements of a case.
type result struct {
	testCase
	rows []*row
}

// find returns the row of a server and request type, or nil if they were not measured.
func (r *result) find(server, requestType string) *row {
	for _, row := range r.rows {
		if row.server == server && row.requestType == requestType {
			return row
		}
	}
	return nil
}

// ratio returns Cadastre's figure for requestType, divided by that of server for otherType in the same round. It
// returns false if one of the two figures was not measured.
func (r *result) ratio(requestType, server, otherType string, figure func(turn) float64) (stat.Spread, bool) {
	ours, divisor := r.find(cadastreName, requestType), r.find(server, otherType)
	if ours == nil || divisor == nil {
		return stat.Spread{}, false
	}
	return stat.Ratio(ours.turns, divisor.turns, figure), true
}

// comparedCPU returns the CPU figure by which request types and servers are compared. With few watchers it is the CPU time
// per change, because the CPU time per event and watcher is measurable only with many watchers.
func (c testCase) comparedCPU() func(turn) float64 {
	if c.verb == "watch" && c.watchers < manyWatchers {
		return turn.Change
	}
	return turn.CPU
}

// findings returns the figures that goals refer to. Their names contain the name of the case and of the figure.
func (r *result) findings() (found []stat.Finding) {
	add := func(what string, figure stat.Spread, ok bool) {
		if ok {
			found = append(found, stat.Found(r.name()+" "+what, figure))
		}
	}
	compare := func(what, requestType, server, otherType string, figure func(turn) float64) {
		spread, ok := r.ratio(requestType, server, otherType, figure)
		add(what, spread, ok)
	}
	compare("dropped CPU", dropped, cadastreName, full, r.comparedCPU())
	compare("mixed CPU", mixed, cadastreName, full, r.comparedCPU())
	compare("mixed heap", mixed, cadastreName, full, turn.Heap)
	compare("mixed heap per watcher", mixed, cadastreName, full, turn.HeapPerWatcher)
	compare("vs kube-apiserver", full, kubeAPIServerName, full, r.comparedCPU())
	for _, requestType := range []string{full, dropped, mixed} {
		compare(requestType+" vs lower-bound", requestType, lowerBoundName, requestType, r.comparedCPU())
	}
	share, ok := r.droppedShare()
	add("share", share, ok)
	return found
}

// droppedShare returns the number of bytes that responses without managedFields save, divided by the size of
// managedFields. It returns false for watches, and if the size cannot be determined.
func (r *result) droppedShare() (stat.Spread, bool) {
	whole, less := r.find(cadastreName, full), r.find(cadastreName, dropped)
	if whole == nil || less == nil || whole.body == nil {
		return stat.Spread{}, false
	}
	share, err := serverbench.ManagedShare(r.media, whole.body)
	if err != nil || share == 0 {
		fmt.Printf("%s: cannot determine the bytes of managedFields: %v\n", r.name(), err)
		return stat.Spread{}, false
	}
	return stat.Of([]float64{(whole.bytes() - less.bytes()) / float64(share)}), true
}
