// Command server compares our server with kube-apiserver and with the floor, the least Go HTTPS server that
// moves the same bytes, and prints the tables: requests, watchers, starting and memory, many objects, and the
// goals.
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
	objects  int
	large    bool
}

func main() {
	serverbench.ServeIfFloor()
	log.SetFlags(0)
	o, err := parseOptions()
	if err != nil {
		log.Fatal(err)
	}
	// An interrupt must not leave processes and data behind.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err = inFolder(o, func(folder string) error {
		o.folder = folder
		return compare(ctx, o)
	})
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

func parseOptions() (o options, err error) {
	pattern := flag.String("run", "", "cases to run, a regular expression on names such as apply/change, watch or ready")
	flag.DurationVar(&o.load.Window, "time", 3*time.Second, "time that is measured in one turn of one side")
	flag.IntVar(&o.rounds, "rounds", 3, "turns of each side on a case")
	flag.IntVar(&o.load.Clients, "clients", 8, "clients that are at work at once, with a connection each")
	flag.StringVar(&o.folder, "folder", os.TempDir(), "where the servers keep their data; its disk has a part in what is measured")
	sides := flag.String("sides", serverbench.AllFlags, "who takes part")
	flag.StringVar(&o.program, "server", "", "program of our server; the default is to build cmd/cadastre")
	flag.IntVar(&o.objects, "objects", 100_000, "objects that our server is started with; the goals are about 100000")
	flag.BoolVar(&o.large, "large", false, "apply with 1,000 and with ten times as many objects, too: takes 8 GB of disk and of memory, and many minutes")
	flag.Parse()
	if o.load.Clients < 1 || o.rounds < 1 || o.load.Window <= 0 || o.objects < 1 {
		return o, errors.New("-clients, -rounds, -time and -objects must be positive")
	}
	o.load.Warmup = min(o.load.Window/4, time.Second)
	if o.sides, err = serverbench.ParseSides(*sides); err != nil {
		return o, err
	}
	o.selected, err = regexp.Compile(*pattern)
	return o, err
}

// parts are what is compared, in this order: starting, requests and watchers, many objects, very many.
var parts = []func(context.Context, options, serverbench.Sides) ([]stat.Finding, error){compareStarts, compareLoads, compareFleet, compareLarge}

func compare(ctx context.Context, o options) error {
	fmt.Printf("%s %s/%s, %d cores; %d clients, %d rounds of %v a side, medians\n", runtime.Version(), runtime.GOOS, runtime.GOARCH,
		runtime.NumCPU(), o.load.Clients, o.rounds, o.load.Window)
	taking, err := o.prepareSides(ctx)
	if err != nil {
		return err
	}
	var findings []stat.Finding
	for _, part := range parts {
		found, err := part(ctx, o, taking)
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

// inFolder makes an empty folder and removes it afterwards.
func inFolder(o options, use func(folder string) error) (err error) {
	folder, err := os.MkdirTemp(o.folder, "bench-server-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	return use(folder)
}
