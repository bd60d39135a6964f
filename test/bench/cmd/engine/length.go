package main

import (
	"fmt"
	"time"

	"github.com/cadastre/cadastre/test/bench"
)

// compareLengths prints how the cost of strategic merge patches grows with the length of a list if all items of the list
// change. The time of strategicpatch is quadratic in the length: measurements that take longer than longTurn are done
// once, and the longest list, which takes minutes, is measured only with -long.
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

// lengthRow contains the measurements of one operation, at each length of the list.
type lengthRow struct {
	cases    []bench.PatchCase
	cadastre [][]bench.Sample // samples by list length
	upstream [][]bench.Sample // samples by list length; shorter if long lists were not measured
	ratio    []float64        // strategicpatch's time divided by Cadastre's, by list length; shorter if long lists were not measured
}

// longTurn is the duration of one execution of strategicpatch above which it is measured only once.
const longTurn = time.Second

// measure measures Cadastre alone, which shows how its time grows, and then Cadastre and strategicpatch in turns.
func (r *lengthRow) measure(o options) error {
	for i, c := range r.cases {
		cadastre, err := c.Cadastre()
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name(), err)
		}
		samples, err := bench.Measure(o.rounds, o.turn, cadastre)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name(), err)
		}
		r.cadastre = append(r.cadastre, samples[0])
		if i == len(r.cases)-1 && !o.long {
			return nil
		}
		if err := r.measureUpstream(c, cadastre, o); err != nil {
			return fmt.Errorf("%s: %w", c.Name(), err)
		}
	}
	return nil
}

// measureUpstream measures strategicpatch and Cadastre with c, the case with the next list length, and appends the
// results to r.upstream and r.ratio.
func (r *lengthRow) measureUpstream(c bench.PatchCase, cadastre bench.Work, o options) error {
	begun := time.Now()
	upstream, err := c.Upstream() // Upstream executes the work once
	if err != nil {
		return err
	}
	if took := time.Since(begun); took > longTurn {
		r.upstream = append(r.upstream, []bench.Sample{{Time: took}})
		r.ratio = append(r.ratio, float64(took)/float64(bench.Typical(r.cadastre[len(r.ratio)]).Time))
		return nil
	} else if took > o.turn {
		o.rounds = min(o.rounds, 3)
	}
	both, err := bench.Measure(o.rounds, o.turn, cadastre, upstream)
	if err != nil {
		return err
	}
	r.upstream = append(r.upstream, both[1])
	r.ratio = append(r.ratio, bench.TimeRatio(both[1], both[0]))
	return nil
}

const lengthFormat = "%-10s %-14s %10s %10s %10s %10s %8s\n"

func printLengthHeader() {
	fmt.Print("\ngrowth of strategic merge patches with the length of a list if all its items change\n")
	fmt.Print("growth: growth of the time from 1,000 to 10,000 items divided by the growth of the bytes; 1 is linear\n\n")
	fmt.Printf(lengthFormat, "operation", "library", "10", "100", "1,000", "10,000", "growth")
}

func (r *lengthRow) print(operation bench.Operation) {
	r.printTimes(string(operation), "cadastre", r.cadastre)
	r.printTimes(string(operation), "strategicpatch", r.upstream)
	cells := []any{"", "faster"}
	for i := range r.cases {
		cells = append(cells, cell(i < len(r.ratio), func() string { return times(r.ratio[i]) }))
	}
	fmt.Printf(lengthFormat, append(cells, "")...)
	fmt.Printf("  %s  %s grows linearly with the list, at most %.1f\n", verdict(r.growth(r.cadastre) <= maxGrowth), operation, maxGrowth)
	fmt.Printf("  %s  %s is at least %dx faster at every length\n", verdict(r.minRatio() >= minFaster), operation, minFaster)
}

// minFaster is the minimum of strategicpatch's time divided by Cadastre's that the goal requires.
const minFaster = 10

func (r *lengthRow) minRatio() float64 {
	lowest := r.ratio[0]
	for _, ratio := range r.ratio {
		lowest = min(lowest, ratio)
	}
	return lowest
}

func verdict(holds bool) string {
	if holds {
		return "pass"
	}
	return "FAIL"
}

// printTimes prints the times of one implementation by list length, and their growth. The cell of a length that was not
// measured is "-long".
func (r *lengthRow) printTimes(operation, implementation string, all [][]bench.Sample) {
	cells := []any{operation, implementation}
	for i := range r.cases {
		cells = append(cells, cell(i < len(all), func() string { return duration(bench.Typical(all[i]).Time) }))
	}
	growth := cell(len(all) == len(r.cases), func() string { return fmt.Sprintf("%.2f", r.growth(all)) })
	fmt.Printf(lengthFormat, append(cells, growth)...)
}

func cell(measured bool, text func() string) string {
	if !measured {
		return "-long"
	}
	return text()
}

// growth returns the ratio of the times for the two longest lists, divided by the ratio of their input sizes. It is 1
// if the time is linear in the size.
func (r *lengthRow) growth(all [][]bench.Sample) float64 {
	last := len(r.cases) - 1
	inBytes := float64(r.cases[last].Size()) / float64(r.cases[last-1].Size())
	return float64(bench.Typical(all[last]).Time) / float64(bench.Typical(all[last-1]).Time) / inBytes
}
