// Command store compares the embedded store, and the watch cache on top of it, with etcd on the same disk. Both are
// durable. It prints tables for commits by number of writers, for events by number of watchers, and for listing and
// opening many objects; then it prints the goals.
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

	"github.com/cadastre/cadastre/test/bench/stat"
	"github.com/cadastre/cadastre/test/bench/storebench"
)

// options are the flags of the command.
type options struct {
	selected *regexp.Regexp
	turn     time.Duration
	rounds   int
	folder   string
	objects  int
	large    bool
}

func main() {
	storebench.ServeIfChild()
	log.SetFlags(0)
	pattern := flag.String("run", "", "regular `expression` of the cases to run, such as writers/64 or cache/open")
	turn := flag.Duration("benchtime", 3*time.Second, "measured `duration` per round and store")
	rounds := flag.Int("rounds", 3, "`number` of rounds per case")
	folder := flag.String("folder", os.TempDir(), "`folder` for the data; its disk is measured")
	objects := flag.Int("objects", 100_000, "`number` of objects that are listed and opened; the goals are for 100000")
	large := flag.Bool("large", false, "also open ten times -objects objects, of 3 KB and of 500 B; requires 4 GB of disk, 8 GB of memory, and some minutes; make bench-store sets it")
	profiles := flag.String("profiles", "", "`folder` for a CPU profile of every process")
	flag.Parse()

	selected, err := regexp.Compile(*pattern)
	if err != nil {
		log.Fatal(err)
	}
	if *rounds < 1 || *turn <= 0 || *objects < 1 {
		log.Fatal("-rounds, -benchtime and -objects must be positive")
	}
	if *profiles != "" {
		if err := storebench.WriteProfiles(*profiles); err != nil {
			log.Fatal(err)
		}
	}
	// An interrupt cancels the context, so that child processes are stopped and data is removed.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err = compare(ctx, options{selected: selected, turn: *turn, rounds: *rounds, folder: *folder, objects: *objects, large: *large})
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

func compare(ctx context.Context, o options) error {
	fmt.Printf("%s %s/%s, %d cores; %d rounds of %v per store, medians; etcd is %s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH,
		runtime.NumCPU(), o.rounds, o.turn, storebench.EtcdVersion())
	if err := compareDisk(ctx, o); err != nil {
		return err
	}
	var findings []stat.Finding
	for _, part := range []func(context.Context, options) ([]stat.Finding, error){
		compareCommits, compareWatches, compareCache, compareLabels, compareFleets,
	} {
		found, err := part(ctx, o)
		if err != nil {
			return err
		}
		findings = append(findings, found...)
	}
	if len(findings) == 0 {
		return fmt.Errorf("no case matches %v", o.selected)
	}
	stat.PrintGoals(goals, findings)
	return nil
}

// inMemory is a rate of synced appends per second that only a memory file system reaches.
const inMemory = 100_000

// compareDisk prints the rate of synced writes of the disk, which limits a single writer.
func compareDisk(ctx context.Context, o options) error {
	disk, err := storebench.MeasureDisk(ctx, o.folder, min(o.turn/4, time.Second), o.rounds)
	if err != nil {
		return err
	}
	fmt.Printf("disk: %s: %.0f synced appends of 3 KB per second, %.0f in preallocated space; this limits a single writer\n",
		o.folder, disk.Append, disk.Overwrite)
	if disk.Append > inMemory {
		fmt.Println("disk: this is a memory file system, where nothing is durable; pass -folder")
	}
	return nil
}
