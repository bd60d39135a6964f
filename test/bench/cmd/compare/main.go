// Command compare measures two builds of the server in one run, for instance before and after a change, and prints the
// CPU time of each server per operation of each case, and the ratio of the two CPU times:
//
//	go run ./cmd/compare -before PROGRAM [-cadastre PROGRAM]
//
// -cadastre is the build after the change; by default the command builds cmd/cadastre. In every round each case is
// measured on both servers, so that other load on the machine affects both servers alike. The ratio is the median of the
// ratios of single rounds.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/cadastre/cadastre/test/bench/serverbench"
	"github.com/cadastre/cadastre/test/bench/stat"
)

// options are the flags of the command. The flag -cadastre is the program after the change.
type options struct {
	serverbench.Options
	before string
}

func main() {
	log.SetFlags(0)
	var o options
	flag.StringVar(&o.before, "before", "", "`program` of the server before the change; required")
	var err error
	o.Options, err = serverbench.ParseFlags(flag.CommandLine, os.Args[1:], serverbench.Defaults{
		Cases: "apply/change, custom/change or watch", Window: 2 * time.Second, Implementations: serverbench.CadastreFlag,
	})
	if err == nil && o.before == "" {
		err = errors.New("-before must be set to the program of a server; build an older commit with go build -tags grpcnotrace -o PROGRAM ./cmd/cadastre")
	}
	if err != nil {
		log.Fatal(err)
	}
	serverbench.Main(o.Folder, func(ctx context.Context, folder string) error {
		o.Folder = folder
		return compare(ctx, o)
	})
}

// table is a named group of cases whose ratios are summarized in one geometric mean.
type table struct {
	name  string
	cases []serverbench.Case
}

var tables = []table{{"server", serverbench.Cases}, {"custom", serverbench.CustomCases}}

func compare(ctx context.Context, o options) error {
	if o.Program == "" {
		var err error
		if o.Program, err = serverbench.BuildCadastre(ctx, o.Folder); err != nil {
			return err
		}
	}
	before, after := serverbench.Cadastre(o.before), serverbench.Cadastre(o.Program)
	before.Name, after.Name = "before", "after"
	fmt.Println(o.Title())
	for _, t := range tables {
		if err := t.compare(ctx, o, before, after); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	return nil
}

// compare starts both builds for this table only, measures the selected cases on them, and prints one row per case.
func (t table) compare(ctx context.Context, o options, implementations ...serverbench.Implementation) (err error) {
	cases := slices.DeleteFunc(slices.Clone(t.cases), func(c serverbench.Case) bool { return !o.Selected.MatchString(c.Name) })
	if len(cases) == 0 {
		return nil
	}
	servers, err := serverbench.StartAll(ctx, filepath.Join(o.Folder, t.name), implementations...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, serverbench.StopAll(servers)) }()
	fmt.Printf("\n%-16s %10s %10s %8s %8s %8s\n", t.name, "before", "after", "ratio", "min", "max")
	var logs float64
	for _, c := range cases {
		rounds, err := measure(ctx, o, servers, c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		cpu := serverbench.Result.CPUPerOperation
		ratio := stat.Ratio(rounds[1], rounds[0], cpu)
		fmt.Printf("%-16s %10s %10s %7.3fx %7.3fx %7.3fx\n", c.Name, stat.Shown(rounds[0], cpu, stat.Nanoseconds),
			stat.Shown(rounds[1], cpu, stat.Nanoseconds), ratio.Median, ratio.Min, ratio.Max)
		logs += math.Log(ratio.Median)
	}
	fmt.Printf("%-16s %10s %10s %7.3fx\n", "geometric mean", "", "", math.Exp(logs/float64(len(cases))))
	return nil
}

// measure runs one case on both servers, round by round, and returns the results of each server. The server that runs first
// alternates between rounds.
func measure(ctx context.Context, o options, servers []serverbench.RunningServer, c serverbench.Case) ([2][]serverbench.Result, error) {
	var rounds [2][]serverbench.Result
	for _, s := range servers {
		if err := c.Prepare(ctx, s.Server, o.Load.Clients); err != nil {
			return rounds, fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	for round := range o.Rounds {
		for turn := range servers {
			i := (round + turn) % len(servers)
			s := servers[i]
			if err := s.Server.Settle(ctx); err != nil {
				return rounds, fmt.Errorf("%s: %w", s.Name, err)
			}
			result, err := c.Run(ctx, s.Server, o.Load)
			if err != nil {
				return rounds, fmt.Errorf("%s: %w", s.Name, err)
			}
			rounds[i] = append(rounds[i], result)
		}
	}
	return rounds, nil
}
