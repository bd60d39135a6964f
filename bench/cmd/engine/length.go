package main

import (
	"fmt"
	"time"

	"github.com/cadastre/cadastre/bench"
)

// compareLengths prints how the cost of patches grows with the length of a list, all of whose items change. The
// peer's ordering is quadratic: it does what takes long only once, and the longest, which takes minutes, on demand.
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
		var row []bench.PatchCase
		for _, length := range bench.PatchLengths {
			row = append(row, bench.LongPatches(length)[i])
		}
		ours, err := measureLengths(row, o, bench.PatchCase.Ours, o.rounds)
		if err != nil {
			return err
		}
		forPeer := row
		if !o.long {
			forPeer = row[:len(row)-1]
		}
		peer, err := measureLengths(forPeer, o, bench.PatchCase.Peer, 3)
		if err != nil {
			return err
		}
		printLengthRow(operation, row, ours, peer)
	}
	return nil
}

// longTurn is how long work may take to be done more than once.
const longTurn = time.Second

// measureLengths measures one side at each length.
func measureLengths(row []bench.PatchCase, o options, side func(bench.PatchCase) (bench.Work, error), rounds int) ([]time.Duration, error) {
	var all []time.Duration
	for _, c := range row {
		begun := time.Now()
		work, err := side(c) // which does it once
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name(), err)
		}
		if took := time.Since(begun); took > longTurn {
			all = append(all, took)
			continue
		}
		samples, err := bench.Measure(rounds, o.turn, work)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name(), err)
		}
		all = append(all, bench.Typical(samples[0]).Time)
	}
	return all, nil
}

const lengthFormat = "%-10s %-14s %10s %10s %10s %10s %8s\n"

func printLengthHeader() {
	fmt.Print("\ngrowth of strategic merge patches with the length of a list, all of whose items change\n")
	fmt.Print("growth: time from 1,000 to 10,000 items by the bytes, 1 is linear\n\n")
	fmt.Printf(lengthFormat, "operation", "side", "10", "100", "1,000", "10,000", "growth")
}

func printLengthRow(operation bench.Operation, row []bench.PatchCase, ours, peer []time.Duration) {
	printLengths(string(operation), "ours", row, ours)
	printLengths(string(operation), "strategicpatch", row, peer)
	cells := []any{"", "faster"}
	for i := range row {
		cells = append(cells, cell(i < len(peer), func() string { return times(float64(peer[i]) / float64(ours[i])) }))
	}
	fmt.Printf(lengthFormat, append(cells, "")...)
	word := "pass"
	if lengthGrowth(row, ours) > maxGrowth {
		word = "FAIL"
	}
	fmt.Printf("  %s  %s grows linearly with the list, at most %.1f\n", word, operation, maxGrowth)
}

// printLengths prints the times of one side, as far as it went.
func printLengths(operation, side string, row []bench.PatchCase, all []time.Duration) {
	cells := []any{operation, side}
	for i := range row {
		cells = append(cells, cell(i < len(all), func() string { return duration(all[i]) }))
	}
	growth := cell(len(all) == len(row), func() string { return fmt.Sprintf("%.2f", lengthGrowth(row, all)) })
	fmt.Printf(lengthFormat, append(cells, growth)...)
}

func cell(known bool, text func() string) string {
	if !known {
		return "-long"
	}
	return text()
}

// lengthGrowth is how much faster the time grows than what is read, between the two longest lists.
func lengthGrowth(row []bench.PatchCase, all []time.Duration) float64 {
	last := len(row) - 1
	inBytes := float64(row[last].Size()) / float64(row[last-1].Size())
	return float64(all[last]) / float64(all[last-1]) / inBytes
}
