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

// turnsOf have a CPU time each, and ten times as many bytes of the heap.
func turnsOf(cpu ...float64) (all []turn) {
	for _, c := range cpu {
		all = append(all, turn{cpu: c, change: 1000 + c, heap: 10 * c, heard: c / 10, bytes: 100, resident: 50 << 20})
	}
	return all
}

// watched is a result in which a round was slow for all.
func watched() *result {
	return &result{testCase: watchCase(serverbench.JSON, most, 8), rows: []*row{
		{server: oursName, way: full, turns: turnsOf(1000, 9000, 1000)},
		{server: oursName, way: dropped, turns: turnsOf(500, 4500, 500)},
		{server: oursName, way: mixed, turns: turnsOf(900, 8100, 900)},
		{server: floorName, way: full, turns: turnsOf(800, 7200, 800)},
		{server: floorName, way: dropped, turns: turnsOf(400, 3600, 400)},
		{server: floorName, way: mixed, turns: turnsOf(600, 5400, 600)},
		{server: peerName, way: full, turns: turnsOf(4000, 36000, 4000)},
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
	found := figures(watched().findings())
	for name, want := range map[string]float64{
		"dropped CPU": 0.5, "mixed CPU": 0.9, "mixed heap": 0.9, "mixed heard": 0.9, "by kube-apiserver": 0.25,
		"full by floor": 1.25, "dropped by floor": 1.25, "mixed by floor": 1.5,
	} {
		if got, ok := found["watch/1000/8 "+name]; !ok || math.Abs(got-want) > 1e-9 {
			t.Errorf("%s is %v, %v, expected %v", name, got, ok, want)
		}
	}
	if len(found) != 8 {
		t.Errorf("found %v, expected 8: a watch has no share", found)
	}
}

// TestFewWatchers are compared by what a change costs with all its events.
func TestFewWatchers(t *testing.T) {
	r := watched()
	r.testCase = watchCase(serverbench.JSON, few, 8)
	found := figures(r.findings())
	for name, want := range map[string]float64{"dropped CPU": 0.75, "mixed CPU": 0.95, "by kube-apiserver": 0.4} {
		if got := found["watch/10/8 "+name]; math.Abs(got-want) > 1e-9 {
			t.Errorf("%s is %v, expected %v", name, got, want)
		}
	}
}

// TestGoalsAreFound: no goal is about what nothing finds, if all take part.
func TestGoalsAreFound(t *testing.T) {
	for _, c := range allCases() {
		r := &result{testCase: c}
		for _, server := range []string{oursName, floorName, peerName} {
			for _, way := range c.ways(server) {
				r.rows = append(r.rows, &row{server: server, way: way, turns: turnsOf(1, 2, 3)})
			}
		}
		found := figures(r.findings())
		for _, g := range goals([]testCase{c}) {
			if _, ok := found[g.Of]; !ok && g.Of != c.name()+" share" {
				t.Errorf("%s: nothing finds %s", g.Text, g.Of)
			}
		}
	}
}

// TestGoals has each that the numbers are held against.
func TestGoals(t *testing.T) {
	for _, test := range []struct {
		c    testCase
		want []string
	}{
		{watchless("get", serverbench.JSON), []string{"dropped CPU", "share"}},
		{watchless("list", serverbench.CBOR), []string{"dropped CPU", "share", "by kube-apiserver"}},
		{watchCase(serverbench.JSON, 1, 3), nil},
		{watchCase(serverbench.JSON, 10, 3), []string{"dropped CPU", "mixed CPU", "mixed heap"}},
		{watchCase(serverbench.Protobuf, 100, 3), []string{"dropped CPU", "mixed CPU", "mixed heap"}},
		{watchCase(serverbench.JSON, 1000, 3), []string{
			"dropped CPU", "mixed CPU", "mixed heap", "mixed heard", "full by floor", "dropped by floor", "mixed by floor",
		}},
	} {
		var got []string
		for _, g := range goals([]testCase{test.c}) {
			got = append(got, strings.TrimPrefix(g.Of, test.c.name()+" "))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s has the goals %q, expected %q", test.c.name(), got, test.want)
		}
	}
}

// TestDroppedShare counts the bytes that went by those that managedFields have.
func TestDroppedShare(t *testing.T) {
	r := &result{testCase: watchless("get", serverbench.JSON), rows: []*row{
		{server: oursName, way: full, answer: []byte(whole)},
		{server: oursName, way: dropped, answer: []byte(stripped)},
	}}
	if share, ok := r.droppedShare(); !ok || share.Median != 1 {
		t.Errorf("share %v, %v, expected all", share, ok)
	}
	r.rows[1].answer = []byte(whole)
	if share, ok := r.droppedShare(); !ok || share.Median != 0 {
		t.Errorf("share %v, %v, expected nothing where all is sent", share, ok)
	}
	r.rows[0].answer = []byte(stripped)
	if share, ok := r.droppedShare(); ok {
		t.Errorf("share %v of an object that has no managedFields", share)
	}
}

func TestCells(t *testing.T) {
	r := watched()
	for i, want := range []string{
		"ours full 100B 1µs 2µs 10000B 100B 50.0MiB - -",
		"ours dropped 100B 500ns 1.5µs 0.50x 5000B 50B 50.0MiB - -",
		"ours mixed 100B 900ns 1.9µs 0.90x 9000B 90B 50.0MiB - -",
		"floor full 100B 800ns 1.8µs 1.25x 8000B 80B 50.0MiB - -",
	} {
		cells := r.cells(r.rows[i])
		if got := strings.Join(strings.Fields(fmt.Sprintln(cells...)), " "); got != want {
			t.Errorf("row %q, expected %q", got, want)
		}
		if len(cells)+1 != strings.Count(tableFormat, "%") {
			t.Errorf("%d cells and a name in %q", len(cells), tableFormat)
		}
	}
}

func TestSize(t *testing.T) {
	for bytes, want := range map[float64]string{0: "0B", 10239: "10239B", 10240: "10.0KiB", 10 << 20: "10.0MiB"} {
		if got := size(bytes); got != want {
			t.Errorf("%v bytes are %s, expected %s", bytes, got, want)
		}
	}
	if got := size(math.NaN()); got != "-" {
		t.Errorf("no number is %s", got)
	}
}
