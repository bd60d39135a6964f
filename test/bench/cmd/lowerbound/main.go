// Command lowerbound compares JSON libraries on the cases of the benchmark. The fastest library is the lower bound that
// apply engines are compared with.
package main

import (
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"regexp"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/cadastre/cadastre/test/bench"
	"github.com/cadastre/cadastre/test/bench/lowerbound"
)

func main() {
	log.SetFlags(0)
	pattern := flag.String("run", "/(change|create)$", "regular `expression` of the cases to run")
	turn := flag.Duration("benchtime", 50*time.Millisecond, "measured `duration` per round and library")
	rounds := flag.Int("rounds", 3, "`number` of rounds per case")
	flag.Parse()

	selected, err := regexp.Compile(*pattern)
	if err != nil {
		log.Fatal(err)
	}
	if err := compare(selected, *rounds, *turn); err != nil {
		log.Fatal(err)
	}
}

// compare prints the time of each library for each selected case, and the geometric mean of each library.
func compare(selected *regexp.Regexp, rounds int, turn time.Duration) error {
	libraries := lowerbound.Libraries()
	logs := make([]float64, len(libraries))
	cases := 0

	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "case\t")
	for _, library := range libraries {
		fmt.Fprintf(table, "%s\t", library.Name)
	}
	fmt.Fprintln(table)
	for _, c := range bench.Cases() {
		if !selected.MatchString(c.Name()) {
			continue
		}
		times, err := measure(c, libraries, rounds, turn)
		if err != nil {
			return err
		}
		cases++
		fmt.Fprintf(table, "%s\t", c.Name())
		for i, t := range times {
			logs[i] += math.Log(float64(t))
			fmt.Fprintf(table, "%.1fµs\t", float64(t)/1e3)
		}
		fmt.Fprintln(table)
	}
	if cases == 0 {
		return fmt.Errorf("no case matches %v", selected)
	}

	fmt.Fprint(table, "geometric mean\t")
	for i := range libraries {
		fmt.Fprintf(table, "%.1fµs\t", math.Exp(logs[i]/float64(cases))/1e3)
	}
	fmt.Fprintln(table)
	if err := table.Flush(); err != nil {
		return err
	}
	fastest := libraries[slices.Index(logs, slices.Min(logs))].Name
	fmt.Printf("\nfastest: %s; lower bound in bench-engine: %s\n", fastest, lowerbound.Fastest().Name)
	return nil
}

func measure(c bench.Case, libraries []lowerbound.Library, rounds int, turn time.Duration) ([]time.Duration, error) {
	var works []bench.Work
	for _, library := range libraries {
		work, err := c.LowerBound(library)
		if err != nil {
			return nil, err
		}
		works = append(works, work)
	}
	samples, err := bench.Measure(rounds, turn, works...)
	if err != nil {
		return nil, err
	}
	var times []time.Duration
	for _, s := range samples {
		times = append(times, bench.Typical(s).Time)
	}
	return times, nil
}
