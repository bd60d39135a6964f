// Command custom compares Cadastre with kube-apiserver on custom resources: many CRDs, apply, and a watch during load
// on another kind. It prints the tables and the goals.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/cadastre/cadastre/test/bench/serverbench"
	"github.com/cadastre/cadastre/test/bench/stat"
)

// options are the flags of the command.
type options struct {
	serverbench.Options
	definitions int
}

func main() {
	log.SetFlags(0)
	var o options
	flag.IntVar(&o.definitions, "definitions", 500, "`number` of CRDs; the goals are for 500")
	var err error
	o.Options, err = serverbench.ParseFlags(flag.CommandLine, os.Args[1:], serverbench.Defaults{
		Cases: "definitions, custom/change or beside", Window: 3 * time.Second, Implementations: serverbench.CadastreFlag + "," + serverbench.KubeAPIServerFlag,
	})
	if err == nil && o.definitions < 1 {
		err = errors.New("-definitions must be positive")
	}
	if err != nil {
		log.Fatal(err)
	}
	serverbench.Main(o.Folder, func(ctx context.Context, folder string) error {
		o.Folder = folder
		return compare(ctx, o)
	})
}

// parts are the comparisons. Each of them starts its own servers.
var parts = []struct {
	name string
	run  func(context.Context, options, []serverbench.RunningServer) ([]stat.Finding, error)
}{{"definitions", compareDefinitions}, {"custom", compareApplies}, {"beside", compareUnderLoad}}

func compare(ctx context.Context, o options) error {
	fmt.Println(o.Title())
	implementations, missing, err := serverbench.FindImplementations(ctx, o.Implementations, o.Program, o.Folder, serverbench.KubeAPIServer)
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
		all, err := serverbench.StartAll(ctx, filepath.Join(o.Folder, part.name), implementations.APIServers()...)
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
		return fmt.Errorf("no case matches %v", o.Selected)
	}
	stat.PrintGoals(goals, found)
	return nil
}

// selects reports whether the -run flag selects a case of the part.
func (o options) selects(part string) bool {
	if part != "custom" {
		return o.Selected.MatchString(part)
	}
	for _, c := range serverbench.CustomCases {
		if o.Selected.MatchString(c.Name) {
			return true
		}
	}
	return false
}
