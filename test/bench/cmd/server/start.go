package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/cadastre/cadastre/test/bench/proc"
	"github.com/cadastre/cadastre/test/bench/serverbench"
	"github.com/cadastre/cadastre/test/bench/stat"
)

const (
	startFormat    = "%-14s %-16s %9s %9s %9s %9s %9s %9s %9s %9s\n"
	startFootnotes = `
ready: from the start of the process until it reports that it serves, for kube-apiserver until /readyz succeeds, including the
start of etcd; CPU: CPU time of the server until then. RSS, private: after one request, idle; private is the anonymous part of
RSS, without the pages of the executable. etcd's is its RSS. working: RSS after clients have changed and read objects for a
while; JSON: size of all objects in responses; RSS/JSON: the greater RSS divided by that size.
`
)

// start contains the measurements of one start of a server.
type start struct {
	ready, cpu  time.Duration
	idle, store proc.Memory
	working     int64 // RSS in bytes after work; 0 if no work was done
	json        int64 // total size of the objects in JSON, in bytes
}

func (s start) Seconds() float64  { return s.ready.Seconds() }
func (s start) Ready() float64    { return float64(s.ready) }
func (s start) CPU() float64      { return float64(s.cpu) }
func (s start) Resident() float64 { return float64(s.idle.Resident) }
func (s start) Private() float64  { return float64(s.idle.Private) }
func (s start) Store() float64    { return float64(s.store.Resident) }
func (s start) Working() float64  { return float64(s.working) }
func (s start) JSON() float64     { return float64(s.json) }
func (s start) PerJSON() float64  { return float64(max(s.idle.Resident, s.working)) / float64(s.json) }

// compareStarts measures the start of each server with an empty data folder.
func compareStarts(ctx context.Context, o options, s serverbench.Implementations) ([]stat.Finding, error) {
	const name = "ready/empty"
	if !o.Selected.MatchString(name) || len(s.APIServers()) == 0 {
		return nil, nil
	}
	rounds := map[string][]start{}
	for round := range o.Rounds {
		for _, implementation := range s.APIServers() {
			folder := filepath.Join(o.Folder, fmt.Sprintf("%s-empty-%d", implementation.Name, round))
			r, err := openOnce(ctx, implementation, folder, nil)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", name, implementation.Name, err)
			}
			rounds[implementation.Name] = append(rounds[implementation.Name], r)
		}
	}
	printStartHeader()
	for _, implementation := range s.APIServers() {
		printStart(name, implementation.Name, rounds[implementation.Name])
	}
	if s.KubeAPIServer == nil {
		fmt.Printf(startFormat, "", bracketed(kubeAPIServerName), bracketed(referenceReady.String()), "", bracketed(mebibytes(referenceMemory)), "", "", "", "", "")
	}
	fmt.Print(startFootnotes)
	cadastre := rounds[cadastreName]
	if len(cadastre) == 0 {
		return []stat.Finding{stat.Found(name, stat.Over(rounds[kubeAPIServerName], start.Seconds))}, nil
	}
	return []stat.Finding{
		stat.Found(name+" time", stat.Over(cadastre, start.Seconds)),
		stat.Found(name+" memory", stat.Over(cadastre, start.Resident)),
	}, nil
}

// openOnce starts a server, calls work if it is not nil, and stops the server. It returns the startup time and the
// memory.
func openOnce(ctx context.Context, implementation serverbench.Implementation, folder string, work func(*serverbench.Server) (serverbench.Result, error)) (r start, err error) {
	opening, err := serverbench.Open(ctx, implementation, folder)
	if opening.Server == nil {
		return start{}, err
	}
	defer func() { err = errors.Join(err, opening.Server.Stop()) }()
	if err != nil {
		return start{}, err
	}
	r = start{ready: opening.Server.Ready, cpu: opening.CPU, idle: opening.Idle, store: opening.StoreIdle}
	if work != nil {
		result, err := work(opening.Server)
		if err != nil {
			return start{}, err
		}
		r.working = result.After.Memory.Resident
	}
	return r, nil
}

func printStartHeader() {
	fmt.Printf("\n"+startFormat, "case", "server", "ready", "CPU", "RSS", "private", "etcd's", "working", "JSON", "RSS/JSON")
}

func printStart(name, implementation string, rounds []start) {
	optional := func(figure func(start) float64, show func(float64) string) string {
		if figure(rounds[0]) == 0 {
			return "-"
		}
		return stat.Shown(rounds, figure, show)
	}
	perJSON := "-"
	if rounds[0].json > 0 {
		perJSON = stat.Shown(rounds, start.PerJSON, stat.Times2)
	}
	fmt.Printf(startFormat, name, implementation, stat.Shown(rounds, start.Ready, stat.Nanoseconds), stat.Shown(rounds, start.CPU, stat.Nanoseconds),
		stat.Shown(rounds, start.Resident, mebibytes), stat.Shown(rounds, start.Private, mebibytes), optional(start.Store, mebibytes), optional(start.Working, mebibytes),
		optional(start.JSON, mebibytes), perJSON)
}
