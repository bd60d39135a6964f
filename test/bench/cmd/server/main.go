// Command server compares Cadastre with kube-apiserver and with a lower bound, a minimal Go HTTPS server that transfers the
// same bytes. It prints tables for requests, for watchers, for startup time and memory, and for many objects; then it
// prints the goals.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/cadastre/cadastre/test/bench/serverbench"
	"github.com/cadastre/cadastre/test/bench/stat"
)

// options are the flags of the command.
type options struct {
	serverbench.Options
	objects int
	large   bool
}

func main() {
	serverbench.ServeIfLowerBound()
	log.SetFlags(0)
	var o options
	flag.IntVar(&o.objects, "objects", 100_000, "`number` of objects that Cadastre is started with; the goals are for 100000")
	flag.BoolVar(&o.large, "large", false, "also measure applies with 1,000 and with ten times -objects objects; requires 8 GB of disk and of memory, and many minutes")
	var err error
	o.Options, err = serverbench.ParseFlags(flag.CommandLine, os.Args[1:], serverbench.Defaults{
		Cases: "apply/change, watch or ready", Window: 3 * time.Second, Implementations: serverbench.AllFlags,
	})
	if err == nil && o.objects < 1 {
		err = errors.New("-objects must be positive")
	}
	if err != nil {
		log.Fatal(err)
	}
	serverbench.Main(o.Folder, func(ctx context.Context, folder string) error {
		o.Folder = folder
		return compare(ctx, o)
	})
}

// parts are the comparisons, in the order in which they run. compareLarge measures more objects than compareFleet.
var parts = []func(context.Context, options, serverbench.Implementations) ([]stat.Finding, error){compareStarts, compareLoads, compareFleet, compareLarge}

func compare(ctx context.Context, o options) error {
	fmt.Println(o.Title())
	implementations, err := o.prepareImplementations(ctx)
	if err != nil {
		return err
	}
	var findings []stat.Finding
	for _, part := range parts {
		found, err := part(ctx, o, implementations)
		if err != nil {
			return err
		}
		findings = append(findings, found...)
	}
	if len(findings) == 0 {
		return fmt.Errorf("no case matches %v", o.Selected)
	}
	stat.PrintGoals(goals, findings)
	return nil
}
