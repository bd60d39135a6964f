// Command engine compares the apply engine with structured-merge-diff, strategic merge patches with strategicpatch, and
// both with a lower bound, which only parses the inputs and writes the output. It prints the tables of all cases, the
// goals, and the growth of the time with the size of the object.
package main

import (
	"flag"
	"fmt"
	"log"
	"regexp"
	"runtime"
	"time"

	"github.com/cadastre/cadastre/test/bench"
	"github.com/cadastre/cadastre/test/bench/lowerbound"
)

// options are the flags of the command.
type options struct {
	selected *regexp.Regexp
	turn     time.Duration
	rounds   int
	long     bool
}

func main() {
	log.SetFlags(0)
	pattern := flag.String("run", "", "regular `expression` of the cases to run, such as Pod/no-op; Scale and Items are the linearity tables")
	turn := flag.Duration("benchtime", 60*time.Millisecond, "measured `duration` per round and library")
	rounds := flag.Int("rounds", 15, "`number` of rounds per case")
	long := flag.Bool("long", false, "measure strategicpatch with lists of 10,000 items, which takes minutes")
	flag.Parse()

	selected, err := regexp.Compile(*pattern)
	if err != nil {
		log.Fatal(err)
	}
	if *rounds < 1 || *turn <= 0 {
		log.Fatal("-rounds and -benchtime must be positive")
	}
	if err := compare(options{selected: selected, turn: *turn, rounds: *rounds, long: *long}); err != nil {
		log.Fatal(err)
	}
}

func compare(o options) error {
	fmt.Printf("%s %s/%s, %d cores; %d rounds of %v per library, medians\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), o.rounds, o.turn)
	fmt.Printf("smd is structured-merge-diff %s, strategicpatch is apimachinery's %s; lower bound: %s parses the inputs and writes the output\n\n",
		moduleVersion("sigs.k8s.io/structured-merge-diff/v6"), moduleVersion("k8s.io/apimachinery"), lowerbound.Fastest().Name)

	var results []result
	printHeader()
	add := func(c bench.Comparison, operation bench.Operation) error {
		if !o.selected.MatchString(c.Name()) {
			return nil
		}
		r, err := measure(c, operation, o)
		if err != nil {
			return err
		}
		r.print()
		results = append(results, r)
		return nil
	}
	for _, c := range bench.Cases() {
		if err := add(c, c.Operation); err != nil {
			return err
		}
	}
	for _, c := range bench.PatchCases() {
		if err := add(c, c.Operation); err != nil {
			return err
		}
	}
	printFootnotes()
	printGoals(results)
	if err := compareScales(o); err != nil {
		return err
	}
	return compareLengths(o)
}
