// Command policy compares the CPU time of updates without a MutatingAdmissionPolicy, with one for another resource, and with one that
// matches, on Cadastre and on kube-apiserver. It prints the table and the goals.
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

func main() {
	log.SetFlags(0)
	o, err := serverbench.ParseFlags(flag.CommandLine, os.Args[1:], serverbench.Defaults{
		Cases: "policy/matching", Window: 3 * time.Second, Implementations: serverbench.CadastreFlag + "," + serverbench.KubeAPIServerFlag,
	})
	if err != nil {
		log.Fatal(err)
	}
	serverbench.Main(o.Folder, func(ctx context.Context, folder string) error {
		o.Folder = folder
		return compare(ctx, o)
	})
}

func compare(ctx context.Context, o serverbench.Options) (err error) {
	fmt.Println(o.Title())
	implementations, missing, err := serverbench.FindImplementations(ctx, o.Implementations, o.Program, o.Folder, serverbench.KubeAPIServer)
	if err != nil {
		return err
	}
	if missing != nil {
		fmt.Println(missing)
	}
	all, err := serverbench.StartAll(ctx, filepath.Join(o.Folder, "policy"), implementations.APIServers()...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, serverbench.StopAll(all)) }()
	r, err := measure(ctx, o, all)
	if err != nil {
		return err
	}
	r.print(all)
	stat.PrintGoals(goals, r.findings())
	return nil
}

// results are the results of each round by state and server.
type results map[string]map[string][]serverbench.Result

// measure measures all states in each round, one after the other on the same server, so that they differ only in the policies.
func measure(ctx context.Context, o serverbench.Options, all []serverbench.RunningServer) (results, error) {
	r := results{}
	for _, server := range all {
		if err := serverbench.PreparePolicies(ctx, server.Server, o.Load.Clients); err != nil {
			return nil, fmt.Errorf("%s: %w", server.Name, err)
		}
	}
	for range o.Rounds {
		for _, server := range all {
			for _, state := range serverbench.PolicyStates {
				if !o.Selected.MatchString(state.Name) {
					continue
				}
				result, err := measureOne(ctx, o, server.Server, state)
				if err != nil {
					return nil, fmt.Errorf("%s: %s: %w", state.Name, server.Name, err)
				}
				if r[state.Name] == nil {
					r[state.Name] = map[string][]serverbench.Result{}
				}
				r[state.Name][server.Name] = append(r[state.Name][server.Name], result)
			}
		}
	}
	return r, nil
}

func measureOne(ctx context.Context, o serverbench.Options, s *serverbench.Server, state serverbench.PolicyState) (serverbench.Result, error) {
	if err := state.Set(ctx, s); err != nil {
		return serverbench.Result{}, err
	}
	if err := s.Settle(ctx); err != nil {
		return serverbench.Result{}, err
	}
	return state.Run(ctx, s, o.Load)
}
