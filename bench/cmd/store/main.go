// Command store compares the local store with etcd on the same disk, both durable, and prints the tables:
// commits by the number of writers, events by the number of watchers, and the goals.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"syscall"
	"time"

	"github.com/cadastre/cadastre/bench/storebench"
)

// options are the command's flags.
type options struct {
	selected *regexp.Regexp
	turn     time.Duration
	rounds   int
	folder   string
}

func main() {
	storebench.ServeIfChild()
	log.SetFlags(0)
	pattern := flag.String("run", "", "cases to run, a regular expression on names such as writers/64 or watchers/100")
	turn := flag.Duration("benchtime", 3*time.Second, "time that is measured in one turn of one side")
	rounds := flag.Int("rounds", 3, "turns of each side on a case")
	folder := flag.String("folder", os.TempDir(), "where the stores keep their data; its disk is what is measured")
	flag.Parse()

	selected, err := regexp.Compile(*pattern)
	if err != nil {
		log.Fatal(err)
	}
	if *rounds < 1 || *turn <= 0 {
		log.Fatal("-rounds and -benchtime must be positive")
	}
	// An interrupt must not leave processes and data behind.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err = compare(ctx, options{selected: selected, turn: *turn, rounds: *rounds, folder: *folder})
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

func compare(ctx context.Context, o options) error {
	fmt.Printf("%s %s/%s, %d cores; %d rounds of %v a side, medians; etcd is %s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH,
		runtime.NumCPU(), o.rounds, o.turn, storebench.EtcdVersion())
	if err := compareDisk(ctx, o); err != nil {
		return err
	}
	commits, err := compareAll(ctx, o, commitTable, commitCases)
	if err != nil {
		return err
	}
	events, err := compareAll(ctx, o, watchTable, watchCases)
	if err != nil {
		return err
	}
	if len(commits)+len(events) == 0 {
		return fmt.Errorf("no case matches %v", o.selected)
	}
	printGoals(commits)
	return nil
}

// inMemory is a rate that no disk has.
const inMemory = 100_000

// compareDisk prints what bounds a single writer.
func compareDisk(ctx context.Context, o options) error {
	disk, err := storebench.MeasureDisk(ctx, o.folder, min(o.turn/4, time.Second), o.rounds)
	if err != nil {
		return err
	}
	fmt.Printf("disk: %s does %.0f synced appends of 3 KB a second, %.0f where the space was there before; 1 writer can have no more\n",
		o.folder, disk.Append, disk.Overwrite)
	if disk.Append > inMemory {
		fmt.Println("disk: this is memory, where nothing is durable: pass -folder")
	}
	return nil
}

// compareAll measures the cases that are selected and prints their rows as they come.
func compareAll(ctx context.Context, o options, t table, cases []benchCase) ([]result, error) {
	var results []result
	for _, c := range cases {
		if !o.selected.MatchString(c.name) {
			continue
		}
		if len(results) == 0 {
			t.printHeader()
		}
		r, err := measure(ctx, c, o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		t.print(r)
		results = append(results, r)
	}
	if len(results) > 0 {
		fmt.Print(t.footnotes)
	}
	return results, nil
}
