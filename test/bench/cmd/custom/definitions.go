package main

import (
	"context"
	"fmt"
	"time"

	"github.com/cadastre/cadastre/test/bench/proc"
	"github.com/cadastre/cadastre/test/bench/serverbench"
	"github.com/cadastre/cadastre/test/bench/stat"
)

const (
	definitionsFormat    = "%-16s %-16s %9s %9s %9s %9s %9s %9s %9s %9s %9s %9s %9s\n"
	definitionsFootnotes = `
served: from the first CRD until objects of the last kind can be listed; p50, p99: per CRD. CPU: CPU time of the server until
it is idle again; etcd's is separate. before, defined, used: RSS without CRDs, with all served, and with one object of each
kind. index, document, kinds: the first request for the OpenAPI index, for one OpenAPI document, and for aggregated discovery.
Each CRD has a schema of about a hundred fields with descriptions.
`
)

// compareDefinitions measures the creation of many CRDs, once per server.
func compareDefinitions(ctx context.Context, o options, all []serverbench.RunningServer) (found []stat.Finding, err error) {
	name := fmt.Sprintf("definitions/%d", o.definitions)
	fmt.Printf("\n"+definitionsFormat, "case", "server", "served", "p50", "p99", "CPU", "etcd's", "before", "defined", "used", "index", "document", "kinds")
	results := map[string]serverbench.DefinitionsResult{}
	for _, server := range all {
		r, err := serverbench.Definitions{Count: o.definitions}.Define(ctx, server.Server, o.Load.Clients)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", server.Name, err)
		}
		results[server.Name] = r
		fmt.Printf(definitionsFormat, name, server.Name, duration(r.Wall), duration(r.P50), duration(r.P99), duration(r.CPU), duration(r.StoreCPU),
			resident(r.Before), resident(r.Served), resident(r.Used), duration(r.Index), duration(r.Document), duration(r.Discovery))
		name = ""
	}
	fmt.Print(definitionsFootnotes)
	cadastre, kubeAPIServer := results[cadastreName], results[kubeAPIServerName]
	add := func(what string, dividend, divisor float64) {
		if dividend > 0 && divisor > 0 {
			found = append(found, stat.Found("definitions "+what, stat.Of([]float64{dividend / divisor})))
		}
	}
	add("time", float64(cadastre.Wall), float64(kubeAPIServer.Wall))
	add("CPU", float64(cadastre.CPU), float64(kubeAPIServer.CPU))
	add("memory", memoryGrowth(cadastre), memoryGrowth(kubeAPIServer))
	if len(found) == 0 { // with only one server there is no ratio
		found = append(found, stat.Found("definitions", stat.Of([]float64{float64(cadastre.Wall)})))
	}
	return found, nil
}

// memoryGrowth returns the additional resident memory of the server for the CRDs with one object each, in bytes.
func memoryGrowth(r serverbench.DefinitionsResult) float64 {
	return float64(r.Used.Resident - r.Before.Resident)
}

func duration(d time.Duration) string { return stat.Nanoseconds(float64(d)) }

func resident(m proc.Memory) string { return fmt.Sprintf("%.0fMiB", float64(m.Resident)/(1<<20)) }
