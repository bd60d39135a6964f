package main

import (
	"slices"
	"testing"
	"time"

	"github.com/cadastre/cadastre/test/bench/serverbench"
	"github.com/cadastre/cadastre/test/bench/stat"
)

// TestGoalsAreMeasured checks that each goal has a finding if both servers were measured, and which CPU times it compares.
func TestGoalsAreMeasured(t *testing.T) {
	cpu := func(microseconds int) []serverbench.Result {
		return []serverbench.Result{{Operations: 1, Window: time.Second, CPU: time.Duration(microseconds) * time.Microsecond}}
	}
	r := results{
		"policy/none":     {cadastreName: cpu(100), kubeAPIServerName: cpu(1000)},
		"policy/other":    {cadastreName: cpu(110), kubeAPIServerName: cpu(1000)},
		"policy/matching": {cadastreName: cpu(300), kubeAPIServerName: cpu(2000)},
	}
	found := r.findings()
	for i, want := range []float64{1.1, 0.15} {
		at := slices.IndexFunc(found, func(f stat.Finding) bool { return f.Name == goals[i].Of })
		if at < 0 || found[at].Figure.Median != want {
			t.Errorf("findings() = %+v, want %s of %v", found, goals[i].Of, want)
		}
	}
	if alone := (results{"policy/none": {cadastreName: cpu(1)}}).findings(); len(alone) != 0 {
		t.Errorf("findings() of one case = %+v, want none", alone)
	}
}
