package serverbench

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
)

// Options are what commands that compare servers are told.
type Options struct {
	Selected *regexp.Regexp // cases to run
	Load     Load
	Rounds   int
	Folder   string
	Sides    []string
	Program  string // ours, or empty: it is built
}

// Defaults are what differs between commands where nobody says otherwise.
type Defaults struct {
	Cases  string // examples of their names
	Window time.Duration
	Sides  string
}

// ParseFlags reads the options, and what else the command has defined as flags, from the command line.
func ParseFlags(flags *flag.FlagSet, arguments []string, d Defaults) (o Options, err error) {
	pattern := flags.String("run", "", "cases to run, a regular expression on names such as "+d.Cases)
	flags.DurationVar(&o.Load.Window, "time", d.Window, "time that is measured in one turn of one side")
	flags.IntVar(&o.Rounds, "rounds", 3, "turns of each side on a case")
	flags.IntVar(&o.Load.Clients, "clients", 8, "clients that are at work at once, with a connection each")
	flags.StringVar(&o.Folder, "folder", os.TempDir(), "where the servers keep their data; its disk has a part in what is measured")
	sides := flags.String("sides", d.Sides, "who takes part")
	flags.StringVar(&o.Program, "server", "", "program of our server; the default is to build cmd/cadastre")
	if err := flags.Parse(arguments); err != nil {
		return o, err
	}
	if o.Load.Clients < 1 || o.Rounds < 1 || o.Load.Window <= 0 {
		return o, errors.New("-clients, -rounds and -time must be positive")
	}
	o.Load.Warmup = min(o.Load.Window/4, time.Second)
	if o.Sides, err = ParseSides(*sides); err != nil {
		return o, err
	}
	o.Selected, err = regexp.Compile(*pattern)
	return o, err
}

// Title says where all is measured, and how.
func (o Options) Title() string {
	return fmt.Sprintf("%s %s/%s, %d cores; %d clients, %d rounds of %v a side, medians", runtime.Version(), runtime.GOOS, runtime.GOARCH,
		runtime.NumCPU(), o.Load.Clients, o.Rounds, o.Load.Window)
}

// Main runs a command in an empty folder below the given one. An interrupt leaves neither processes nor data behind.
func Main(below string, run func(ctx context.Context, folder string) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := InFolder(below, func(folder string) error { return run(ctx, folder) })
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

// InFolder makes an empty folder below another, and removes it afterwards.
func InFolder(below string, use func(folder string) error) error {
	folder, err := os.MkdirTemp(below, "bench-")
	if err != nil {
		return err
	}
	return errors.Join(use(folder), os.RemoveAll(folder))
}
