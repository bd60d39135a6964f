// Command custom compares our server with kube-apiserver on custom resources: many definitions, apply, and a watch on
// one kind beside work on another; and prints the tables and the goals.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"syscall"
	"time"

	"github.com/cadastre/cadastre/bench/serverbench"
	"github.com/cadastre/cadastre/bench/stat"
)

// options are the command's flags.
type options struct {
	selected    *regexp.Regexp
	load        serverbench.Load
	rounds      int
	folder      string
	sides       []string
	program     string // ours, or empty: it is built
	definitions int
}

func main() {
	log.SetFlags(0)
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
	pattern := flag.String("run", "", "cases to run, a regular expression on names such as definitions, custom/change or beside")
	flag.DurationVar(&o.load.Window, "time", 3*time.Second, "time that is measured in one turn of one side")
	flag.IntVar(&o.rounds, "rounds", 3, "turns of each side on a case; definitions are made once")
	flag.IntVar(&o.load.Clients, "clients", 8, "clients that are at work at once, with a connection each")
	flag.StringVar(&o.folder, "folder", os.TempDir(), "where the servers keep their data; its disk has a part in what is measured")
	sides := flag.String("sides", serverbench.OursFlag+","+serverbench.PeerFlag, "who takes part")
	flag.StringVar(&o.program, "server", "", "program of our server; the default is to build cmd/cadastre")
	flag.IntVar(&o.definitions, "definitions", 500, "kinds that are defined; the goals are about 500")
	flag.Parse()
	if o.load.Clients < 1 || o.rounds < 1 || o.load.Window <= 0 || o.definitions < 1 {
		return o, errors.New("-clients, -rounds, -time and -definitions must be positive")
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
	folder, err := os.MkdirTemp(o.folder, "bench-custom-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	o.folder = folder
	return compare(ctx, o)
}

// parts are what is compared, each on servers of its own.
var parts = []struct {
	name string
	run  func(context.Context, options, []serverbench.Contender) ([]stat.Finding, error)
}{{"definitions", compareDefinitions}, {"custom", compareApplies}, {"beside", compareBeside}}

func compare(ctx context.Context, o options) error {
	fmt.Printf("%s %s/%s, %d cores; %d clients, %d rounds of %v a side, medians\n", runtime.Version(), runtime.GOOS, runtime.GOARCH,
		runtime.NumCPU(), o.load.Clients, o.rounds, o.load.Window)
	sides, missing, err := serverbench.FindSides(ctx, o.sides, o.program, o.folder, serverbench.Peer)
	if err != nil {
		return err
	}
	if missing != nil {
		fmt.Println(missing)
	}
	var found []stat.Finding
	for _, part := range parts {
		if !o.selects(part.name) {
			continue
		}
		all, err := serverbench.StartAll(ctx, filepath.Join(o.folder, part.name), sides.Real()...)
		if err != nil {
			return err
		}
		some, err := part.run(ctx, o, all)
		if err := errors.Join(err, serverbench.StopAll(all)); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		found = append(found, some...)
	}
	if len(found) == 0 {
		return fmt.Errorf("no case matches %v", o.selected)
	}
	stat.PrintGoals(goals, found)
	return nil
}

// selects says whether a part has a case to run.
func (o options) selects(part string) bool {
	if part != "custom" {
		return o.selected.MatchString(part)
	}
	for _, c := range serverbench.CustomCases {
		if o.selected.MatchString(c.Name) {
			return true
		}
	}
	return false
}
