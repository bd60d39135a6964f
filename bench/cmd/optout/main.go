// Command optout measures what it is worth to leave managedFields out of answers: bytes, CPU and memory of the server
// and allocations of clients, for get, list and watch, on our server, on kube-apiserver, which always sends all, and on
// the floor, the least Go HTTPS server that moves the same bytes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"syscall"
	"time"

	"github.com/cadastre/cadastre/bench/serverbench"
	"github.com/cadastre/cadastre/bench/stat"
)

// options are the command's flags.
type options struct {
	selected *regexp.Regexp
	load     serverbench.Load
	rounds   int
	folder   string
	sides    []string
	program  string // ours, or empty: it is built
}

func main() {
	serverbench.ServeIfFloor()
	log.SetFlags(0)
	// client-go reads it when the first client is made.
	if err := os.Setenv("KUBE_FEATURE_ClientsAllowCBOR", "true"); err != nil {
		log.Fatal(err)
	}
	o, err := parseOptions()
	if err != nil {
		log.Fatal(err)
	}
	// An interrupt must not leave processes and data behind.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err = inFolder(ctx, o)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

func parseOptions() (o options, err error) {
	pattern := flag.String("run", "", "cases to run, a regular expression on names such as get/json/8, list/cbor/3 or watch/100/1, which end with how many managers objects have")
	flag.DurationVar(&o.load.Window, "time", time.Second, "time that is measured in one turn")
	flag.DurationVar(&o.load.CPU, "cpu", 500*time.Millisecond, "CPU of the server that a turn needs at least: it takes longer until it has")
	flag.IntVar(&o.rounds, "rounds", 3, "turns of each side in each way on a case")
	flag.IntVar(&o.load.Clients, "clients", 8, "clients that are at work at once, with a connection each")
	flag.StringVar(&o.folder, "folder", os.TempDir(), "where the servers keep their data")
	sides := flag.String("sides", serverbench.AllFlags, "who takes part")
	flag.StringVar(&o.program, "server", "", "program of our server; the default is to build cmd/cadastre")
	flag.Parse()
	if o.load.Clients < 1 || o.rounds < 1 || o.load.Window <= 0 {
		return o, errors.New("-clients, -rounds and -time must be positive")
	}
	o.load.Warmup = min(o.load.Window/4, time.Second)
	if o.sides, err = serverbench.ParseSides(*sides); err != nil {
		return o, err
	}
	o.selected, err = regexp.Compile(*pattern)
	return o, err
}

// inFolder makes an empty folder and removes it afterwards.
func inFolder(ctx context.Context, o options) (err error) {
	folder, err := os.MkdirTemp(o.folder, "bench-optout-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	o.folder = folder
	return compare(ctx, o)
}

func compare(ctx context.Context, o options) (err error) {
	fmt.Printf("%s %s/%s, %d cores; %d clients, %d rounds of %v, medians\n", runtime.Version(), runtime.GOOS, runtime.GOARCH,
		runtime.NumCPU(), o.load.Clients, o.rounds, o.load.Window)
	cases := selectedCases(o)
	if len(cases) == 0 {
		return fmt.Errorf("no case matches %v", o.selected)
	}
	servers, err := startServers(ctx, o, cases)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, serverbench.StopAll(servers)) }()
	var found []stat.Finding
	printHeader()
	for _, c := range cases {
		r, err := c.compare(ctx, o, servers)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name(), err)
		}
		r.print()
		found = append(found, r.findings()...)
	}
	fmt.Print(footnotes)
	stat.PrintGoals(goals(cases), found)
	return nil
}
