package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/test/bench/serverbench"
	"github.com/cadastre/cadastre/test/bench/stat"
)

// turnsOf returns one turn for each of the given CPU times. The allocated heap is ten times the CPU time.
func turnsOf(cpu ...float64) (all []turn) {
	for _, c := range cpu {
		all = append(all, turn{cpu: c, change: 1000 + c, heap: 10 * c, heapPerWatcher: c / 10, bytes: 100, resident: 50 << 20})
	}
	return all
}

// watchResult returns the result of a watch in which the second round was slow on all servers.
func watchResult() *result {
	return &result{testCase: watchCase(serverbench.JSON, maxWatchers, 8), rows: []*row{
		{server: cadastreName, requestType: full, turns: turnsOf(1000, 9000, 1000)},
		{server: cadastreName, requestType: dropped, turns: turnsOf(500, 4500, 500)},
		{server: cadastreName, requestType: mixed, turns: turnsOf(900, 8100, 900)},
		{server: lowerBoundName, requestType: full, turns: turnsOf(800, 7200, 800)},
		{server: lowerBoundName, requestType: dropped, turns: turnsOf(400, 3600, 400)},
		{server: lowerBoundName, requestType: mixed, turns: turnsOf(600, 5400, 600)},
		{server: kubeAPIServerName, requestType: full, turns: turnsOf(4000, 36000, 4000)},
	}}
}

func figures(found []stat.Finding) map[string]float64 {
	all := map[string]float64{}
	for _, f := range found {
		all[f.Name] = f.Figure.Median
	}
	return all
}

func TestFindings(t *testing.T) {
	found := figures(watchResult().findings())
	for name, want := range map[string]float64{
		"dropped CPU": 0.5, "mixed CPU": 0.9, "mixed heap": 0.9, "mixed heap per watcher": 0.9, "vs kube-apiserver": 0.25,
		"full vs lower-bound": 1.25, "dropped vs lower-bound": 1.25, "mixed vs lower-bound": 1.5,
	} {
		if got, ok := found["watch/1000/8 "+name]; !ok || math.Abs(got-want) > 1e-9 {
			t.Errorf("finding %s = %v, %v, want %v", name, got, ok, want)
		}
	}
	if len(found) != 8 {
		t.Errorf("findings() = %v, want 8 findings without a share, which a watch does not have", found)
	}
}

// TestFewWatchers checks that cases with few watchers are compared by the CPU time per change, which includes the
// events.
func TestFewWatchers(t *testing.T) {
	r := watchResult()
	r.testCase = watchCase(serverbench.JSON, fewWatchers, 8)
	found := figures(r.findings())
	for name, want := range map[string]float64{"dropped CPU": 0.75, "mixed CPU": 0.95, "vs kube-apiserver": 0.4} {
		if got := found["watch/10/8 "+name]; math.Abs(got-want) > 1e-9 {
			t.Errorf("finding %s = %v, want %v", name, got, want)
		}
	}
}

// TestGoalsAreFound checks that a finding exists for every goal if all servers are measured.
func TestGoalsAreFound(t *testing.T) {
	for _, c := range allCases() {
		r := &result{testCase: c}
		for _, server := range []string{cadastreName, lowerBoundName, kubeAPIServerName} {
			for _, requestType := range c.requestTypes(server) {
				r.rows = append(r.rows, &row{server: server, requestType: requestType, turns: turnsOf(1, 2, 3)})
			}
		}
		found := figures(r.findings())
		for _, g := range goals([]testCase{c}) {
			if _, ok := found[g.Of]; !ok && g.Of != c.name()+" share" {
				t.Errorf("goal %s: no finding %s", g.Text, g.Of)
			}
		}
	}
}

// TestGoals checks which goals each type of case has.
func TestGoals(t *testing.T) {
	for _, test := range []struct {
		c    testCase
		want []string
	}{
		{watchless("get", serverbench.JSON), []string{"dropped CPU", "share"}},
		{watchless("list", serverbench.CBOR), []string{"dropped CPU", "share", "vs kube-apiserver"}},
		{watchCase(serverbench.JSON, 1, 3), nil},
		{watchCase(serverbench.JSON, 10, 3), []string{"dropped CPU", "mixed CPU", "mixed heap"}},
		{watchCase(serverbench.Protobuf, 100, 3), []string{"dropped CPU", "mixed CPU", "mixed heap"}},
		{watchCase(serverbench.JSON, 1000, 3), []string{
			"dropped CPU", "mixed CPU", "mixed heap", "mixed heap per watcher", "full vs lower-bound", "dropped vs lower-bound", "mixed vs lower-bound",
		}},
	} {
		var got []string
		for _, g := range goals([]testCase{test.c}) {
			got = append(got, strings.TrimPrefix(g.Of, test.c.name()+" "))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("goals of %s = %q, want %q", test.c.name(), got, test.want)
		}
	}
}

// TestDroppedShare: the share is the number of omitted bytes divided by the size of managedFields.
func TestDroppedShare(t *testing.T) {
	r := &result{testCase: watchless("get", serverbench.JSON), rows: []*row{
		{server: cadastreName, requestType: full, body: []byte(whole)},
		{server: cadastreName, requestType: dropped, body: []byte(stripped)},
	}}
	if share, ok := r.droppedShare(); !ok || share.Median != 1 {
		t.Errorf("droppedShare() = %v, %v, want 1", share, ok)
	}
	r.rows[1].body = []byte(whole)
	if share, ok := r.droppedShare(); !ok || share.Median != 0 {
		t.Errorf("droppedShare() = %v, %v, want 0 if the response includes managedFields", share, ok)
	}
	r.rows[0].body = []byte(stripped)
	if share, ok := r.droppedShare(); ok {
		t.Errorf("droppedShare() of an object without managedFields = %v, want none", share)
	}
}

func TestCells(t *testing.T) {
	r := watchResult()
	for i, want := range []string{
		"cadastre full 100B 1µs 2µs 10000B 100B 50.0MiB - -",
		"cadastre dropped 100B 500ns 1.5µs 0.50x 5000B 50B 50.0MiB - -",
		"cadastre mixed 100B 900ns 1.9µs 0.90x 9000B 90B 50.0MiB - -",
		"lower-bound full 100B 800ns 1.8µs 1.25x 8000B 80B 50.0MiB - -",
	} {
		cells := r.cells(r.rows[i])
		if got := strings.Join(strings.Fields(fmt.Sprintln(cells...)), " "); got != want {
			t.Errorf("row = %q, want %q", got, want)
		}
		if len(cells)+1 != strings.Count(tableFormat, "%") {
			t.Errorf("row has a name and %d cells, which do not match format %q", len(cells), tableFormat)
		}
	}
}

func TestSize(t *testing.T) {
	for bytes, want := range map[float64]string{0: "0B", 10239: "10239B", 10240: "10.0KiB", 10 << 20: "10.0MiB"} {
		if got := size(bytes); got != want {
			t.Errorf("size(%v) = %s, want %s", bytes, got, want)
		}
	}
	if got := size(math.NaN()); got != "-" {
		t.Errorf("size(NaN) = %s, want -", got)
	}
}
