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

// Options are the flags that all commands which compare servers have.
type Options struct {
	Selected        *regexp.Regexp // a pattern that selects cases by their names
	Load            Load
	Rounds          int
	Folder          string
	Implementations []string
	Program         string // path of the cadastre binary; it is built if the path is empty
}

// Defaults are the defaults of the flags that differ between commands.
type Defaults struct {
	Cases           string // examples of case names, for the help of -run
	Window          time.Duration
	Implementations string
}

// ParseFlags parses the arguments: the flags of Options and the flags that the command has already defined.
func ParseFlags(flags *flag.FlagSet, arguments []string, d Defaults) (o Options, err error) {
	pattern := flags.String("run", "", "run only cases that match the `regexp`, such as "+d.Cases)
	flags.DurationVar(&o.Load.Window, "time", d.Window, "measured `duration` per round and server")
	flags.IntVar(&o.Rounds, "rounds", 3, "`number` of rounds per case")
	flags.IntVar(&o.Load.Clients, "clients", 8, "`number` of concurrent clients, with one connection each")
	flags.StringVar(&o.Folder, "folder", os.TempDir(), "data `folder` of the servers; the speed of its disk affects the results")
	implementations := flags.String("servers", d.Implementations, "comma-separated `list` of the servers to measure: "+AllFlags)
	flags.StringVar(&o.Program, "cadastre", "", "`path` of the cadastre binary; built from cmd/cadastre if empty")
	if err := flags.Parse(arguments); err != nil {
		return o, err
	}
	if o.Load.Clients < 1 || o.Rounds < 1 || o.Load.Window <= 0 {
		return o, errors.New("-clients, -rounds and -time must be positive")
	}
	o.Load.Warmup = min(o.Load.Window/4, time.Second)
	if o.Implementations, err = ParseImplementations(*implementations); err != nil {
		return o, err
	}
	o.Selected, err = regexp.Compile(*pattern)
	return o, err
}

// Title returns a line that describes the machine and the options.
func (o Options) Title() string {
	return fmt.Sprintf("%s %s/%s, %d cores; %d clients, %d rounds of %v per server, medians", runtime.Version(), runtime.GOOS, runtime.GOARCH,
		runtime.NumCPU(), o.Load.Clients, o.Rounds, o.Load.Window)
}

// Main calls run with an empty temporary folder in parent, removes the folder, and exits with status 1 if run fails. An
// interrupt cancels the context, so that processes are stopped and data is removed.
func Main(parent string, run func(ctx context.Context, folder string) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := InFolder(parent, func(folder string) error { return run(ctx, folder) })
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

// InFolder calls use with an empty temporary folder in parent, and removes the folder afterwards.
func InFolder(parent string, use func(folder string) error) error {
	folder, err := os.MkdirTemp(parent, "bench-")
	if err != nil {
		return err
	}
	return errors.Join(use(folder), os.RemoveAll(folder))
}
