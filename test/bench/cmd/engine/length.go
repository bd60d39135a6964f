package main

import (
	"fmt"
	"time"

	"github.com/cadastre/cadastre/test/bench"
)

// compareLengths prints how the cost of patches grows with the length of a list all of whose items change. The peer's
// ordering is quadratic: long measurements are done once, and the longest one, which takes minutes, only on request.
func compareLengths(o options) error {
	printed := false
	for i, operation := range bench.PatchOperations {
		if !o.selected.MatchString("Items/" + string(operation)) {
			continue
		}
		if !printed {
			printLengthHeader()
			printed = true
		}
		var row lengthRow
		for _, length := range bench.PatchLengths {
			row.cases = append(row.cases, bench.LongPatches(length)[i])
		}
		if err := row.measure(o); err != nil {
			return err
		}
		row.print(operation)
	}
	return nil
}

// lengthRow is an operation at each length.
type lengthRow struct {
	cases []bench.PatchCase
	ours  [][]bench.Sample // per length
	peer  [][]bench.Sample // may have fewer lengths
	ratio []float64        // the peer's time divided by ours, as far as measured
}

// longTurn is the maximum duration of work that is measured more than once.
const longTurn = time.Second

// measure measures our side alone, which shows its growth, and then both sides in turns.
func (r *lengthRow) measure(o options) error {
	for i, c := range r.cases {
		ours, err := c.Ours()
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name(), err)
		}
		samples, err := bench.Measure(o.rounds, o.turn, ours)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name(), err)
		}
		r.ours = append(r.ours, samples[0])
		if i == len(r.cases)-1 && !o.long {
			return nil
		}
		if err := r.measurePeer(c, ours, o); err != nil {
			return fmt.Errorf("%s: %w", c.Name(), err)
		}
	}
	return nil
}

// measurePeer measures the peer at the next length.
func (r *lengthRow) measurePeer(c bench.PatchCase, ours bench.Work, o options) error {
	begun := time.Now()
	peer, err := c.Peer() // runs the work once
	if err != nil {
		return err
	}
	if took := time.Since(begun); took > longTurn {
		r.peer = append(r.peer, []bench.Sample{{Time: took}})
		r.ratio = append(r.ratio, float64(took)/float64(bench.Typical(r.ours[len(r.ratio)]).Time))
		return nil
	} else if took > o.turn {
		o.rounds = min(o.rounds, 3)
	}
	both, err := bench.Measure(o.rounds, o.turn, ours, peer)
	if err != nil {
		return err
	}
	r.peer = append(r.peer, both[1])
	r.ratio = append(r.ratio, bench.TimeRatio(both[1], both[0]))
	return nil
}

const lengthFormat = "%-10s %-14s %10s %10s %10s %10s %8s\n"

func printLengthHeader() {
	fmt.Print("\ngrowth of strategic merge patches with the length of a list, all of whose items change\n")
	fmt.Print("growth: growth of the time from 1,000 to 10,000 items divided by that of the bytes; 1 is linear\n\n")
	fmt.Printf(lengthFormat, "operation", "side", "10", "100", "1,000", "10,000", "growth")
}

func (r *lengthRow) print(operation bench.Operation) {
	r.printSide(string(operation), "ours", r.ours)
	r.printSide(string(operation), "strategicpatch", r.peer)
	cells := []any{"", "faster"}
	for i := range r.cases {
		cells = append(cells, cell(i < len(r.ratio), func() string { return times(r.ratio[i]) }))
	}
	fmt.Printf(lengthFormat, append(cells, "")...)
	fmt.Printf("  %s  %s grows linearly with the list, at most %.1f\n", verdict(r.growth(r.ours) <= maxGrowth), operation, maxGrowth)
	fmt.Printf("  %s  %s is at least %dx faster at every length\n", verdict(r.slowest() >= minFaster), operation, minFaster)
}

// minFaster is the goal for the speedup of patches over strategicpatch.
const minFaster = 10

func (r *lengthRow) slowest() float64 {
	slowest := r.ratio[0]
	for _, ratio := range r.ratio {
		slowest = min(slowest, ratio)
	}
	return slowest
}

func verdict(holds bool) string {
	if holds {
		return "pass"
	}
	return "FAIL"
}

// printSide prints the times of one side, as far as measured.
func (r *lengthRow) printSide(operation, side string, all [][]bench.Sample) {
	cells := []any{operation, side}
	for i := range r.cases {
		cells = append(cells, cell(i < len(all), func() string { return duration(bench.Typical(all[i]).Time) }))
	}
	growth := cell(len(all) == len(r.cases), func() string { return fmt.Sprintf("%.2f", r.growth(all)) })
	fmt.Printf(lengthFormat, append(cells, growth)...)
}

func cell(known bool, text func() string) string {
	if !known {
		return "-long"
	}
	return text()
}

// growth returns the growth of the time divided by that of the input, between the two longest lists.
func (r *lengthRow) growth(all [][]bench.Sample) float64 {
	last := len(r.cases) - 1
	inBytes := float64(r.cases[last].Size()) / float64(r.cases[last-1].Size())
	return float64(bench.Typical(all[last]).Time) / float64(bench.Typical(all[last-1]).Time) / inBytes
}
