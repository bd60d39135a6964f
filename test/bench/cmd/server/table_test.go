package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/test/bench/proc"
	"github.com/cadastre/cadastre/test/bench/serverbench"
)

// turns returns one turn for each of the given CPU times, in microseconds per operation.
func turns(cpu ...float64) (all []turn) {
	for _, c := range cpu {
		t := requestTurn(serverbench.Result{
			Operations: 100, Window: 2 * time.Second, P50: 2 * time.Millisecond, P99: 9 * time.Millisecond,
			CPU: time.Duration(c*100) * time.Microsecond, StoreCPU: 20 * time.Millisecond,
		})
		t.after.Memory = proc.Memory{Resident: 30 << 20, Private: 20 << 20}
		all = append(all, t)
	}
	return all
}

func words(cells []any) string { return strings.Join(strings.Fields(fmt.Sprintln(cells...)), " ") }

func TestRows(t *testing.T) {
	r := loadResult{
		name: "get", servers: []string{cadastreName, lowerBoundName, kubeAPIServerName},
		turns: [][]turn{turns(60, 50, 300), turns(40, 40, 150), turns(600, 500, 3000)},
	}
	for i, want := range []string{
		"cadastre 50 2ms 9ms 60µs - 30MiB 20MiB ",
		"lower-bound 50 2ms 9ms 40µs - 30MiB 20MiB 1.50x",
		"kube-apiserver 50 2ms 9ms 600µs 200µs 30MiB 20MiB 0.10x",
	} {
		cells := r.cells(r.servers[i], r.turns[i])
		if got := words(cells); got != strings.TrimSpace(want) {
			t.Errorf("row = %q, want %q", got, want)
		}
		if len(cells)+1 != strings.Count(loadFormat, "%") {
			t.Errorf("row has a name and %d cells, which do not match format %q", len(cells), loadFormat)
		}
	}
}

// TestReference checks that the reference figure is used only if kube-apiserver was not measured.
func TestReference(t *testing.T) {
	alone := loadResult{name: "get", servers: []string{cadastreName}, turns: [][]turn{turns(80)}}
	if got, ok := alone.cost(kubeAPIServerName); !ok || math.Abs(got.Median-0.1) > 1e-9 {
		t.Errorf("cost(kube-apiserver) = %v, %v, want 80/800", got, ok)
	}
	if _, ok := alone.cost(lowerBoundName); ok {
		t.Error("cost(lower-bound) = _, true although the lower bound was not measured, want false")
	}
	measured := loadResult{name: "get", servers: []string{cadastreName, kubeAPIServerName}, turns: [][]turn{turns(80), turns(160)}}
	if got, ok := measured.cost(kubeAPIServerName); !ok || got.Median != 0.5 {
		t.Errorf("cost(kube-apiserver) = %v, %v, want 80/160", got, ok)
	}
	unknown := loadResult{name: "update", servers: []string{cadastreName}, turns: [][]turn{turns(80)}}
	if got, ok := unknown.cost(kubeAPIServerName); ok {
		t.Errorf("cost(kube-apiserver) = %v, true; want false", got)
	}
	if got := unknown.findings(); len(got) != 1 || got[0].Name != "update" {
		t.Errorf("findings() = %v, want one finding with name update", got)
	}
}

func TestPerJSON(t *testing.T) {
	s := start{idle: proc.Memory{Resident: 200}, working: 300, json: 100}
	if got := s.PerJSON(); got != 3 {
		t.Errorf("PerJSON() = %v, want 3", got)
	}
}

// TestGoalsAreMeasured checks that every goal and every reference figure belongs to a case.
func TestGoalsAreMeasured(t *testing.T) {
	names := []string{
		"ready/empty time", "ready/empty memory", "ready/100000 time", "ready/100000 memory", "apply/objects growth",
	}
	for _, c := range loadCases(options{}) {
		names = append(names, c.name+" vs "+lowerBoundName, c.name+" vs "+kubeAPIServerName)
	}
	for _, g := range goals {
		if !slices.Contains(names, g.Of) {
			t.Errorf("goal %s: no finding %s", g.Text, g.Of)
		}
	}
	for name := range reference {
		if !slices.ContainsFunc(loadCases(options{}), func(c loadCase) bool { return c.name == name }) {
			t.Errorf("reference for %s, which is not a case", name)
		}
	}
}
