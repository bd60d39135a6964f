package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/test/bench/serverbench"
)

func TestMain(m *testing.M) {
	serverbench.ServeIfLowerBound()
	os.Exit(m.Run())
}

// TestAllCases checks that the table contains every combination of verb, media type or number of watchers, and number
// of field managers.
func TestAllCases(t *testing.T) {
	var names []string
	for _, c := range allCases() {
		names = append(names, c.name())
	}
	var want []string
	for _, m := range []int{1, 3, 8} {
		for _, what := range []string{
			"get/json", "get/protobuf", "get/cbor", "list/json", "list/protobuf", "list/cbor",
			"begin/json", "begin/protobuf", "begin/cbor",
			"watch/1", "watch/10", "watch/100", "watch/1000", "watch/100-protobuf", "watch/100-cbor",
		} {
			want = append(want, fmt.Sprintf("%s/%d", what, m))
		}
	}
	if !slices.Equal(names, want) {
		t.Errorf("allCases() = %v, want %v", names, want)
	}
}

func TestSelectedCases(t *testing.T) {
	selected := selectedCases(options{Selected: regexp.MustCompile("^watch/100/")})
	if len(selected) != 3 || selected[0].name() != "watch/100/1" {
		t.Errorf("selectedCases() = %v, want the cases with 100 watchers and media type JSON", selected)
	}
}

func TestRequestTypes(t *testing.T) {
	get, one, ten := watchless("get", serverbench.CBOR), watchCase(serverbench.JSON, 1, 3), watchCase(serverbench.JSON, 10, 3)
	for _, test := range []struct {
		c      testCase
		server string
		want   string
	}{
		{get, cadastreName, "full dropped"},
		{get, kubeAPIServerName, "full"},
		{get, lowerBoundName, ""},
		{watchless("get", serverbench.JSON), lowerBoundName, "full dropped"},
		{one, cadastreName, "full dropped"},
		{watchless("begin", serverbench.JSON), cadastreName, "full dropped"},
		{watchless("begin", serverbench.JSON), lowerBoundName, ""},
		{ten, cadastreName, "full dropped mixed"},
		{ten, lowerBoundName, "full dropped mixed"},
		{ten, kubeAPIServerName, "full"},
	} {
		if got := strings.Join(test.c.requestTypes(test.server), " "); got != test.want {
			t.Errorf("request types of %s on %s = %q, want %q", test.c.name(), test.server, got, test.want)
		}
	}
	var drops []bool
	for _, format := range ten.formats(mixed) {
		drops = append(drops, format.Drop)
	}
	if !slices.Equal(drops, []bool{false, true}) {
		t.Errorf("mixed watchers drop = %v, want [false true]", drops)
	}
}

func watchless(verb string, media serverbench.Media) testCase {
	return testCase{verb: verb, detail: media.Name(), managers: 3, media: media}
}

const (
	whole    = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"managedFields":[{"manager":"bench","operation":"Update","apiVersion":"apps/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}],"name":"web"},"spec":{"selector":{},"template":{}}}`
	stripped = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"selector":{},"template":{}}}`
)

// lowerBoundFor starts a lower-bound server with the objects of the cases. It returns the server twice, under the names
// of Cadastre and of the lower bound.
func lowerBoundFor(t *testing.T, o options, cases ...testCase) []serverbench.RunningServer {
	t.Helper()
	sample := serverbench.SyntheticSample()
	for _, c := range cases {
		for _, objects := range []serverbench.ManagedObjects{c.objects(o), c.listedObjects()} {
			for drop, object := range map[bool]string{false: whole, true: stripped} {
				sample.ManagedObjects = append(sample.ManagedObjects, serverbench.ManagedSample{
					ManagedObjects: objects, Format: serverbench.Format{Media: serverbench.JSON, Drop: drop}, Object: []byte(object),
				})
			}
		}
	}
	// The context must not end with the test, because the server is stopped in a cleanup function.
	started, err := serverbench.StartAll(context.WithoutCancel(t.Context()), t.TempDir(), serverbench.LowerBound(sample))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := serverbench.StopAll(started); err != nil {
			t.Error(err)
		}
	})
	return []serverbench.RunningServer{{Name: cadastreName, Server: started[0].Server}, {Name: lowerBoundName, Server: started[0].Server}}
}

// TestCompare compares the lower bound with itself, with every request type.
func TestCompare(t *testing.T) {
	o := options{Rounds: 2, Load: serverbench.Load{Clients: 2, Warmup: 20 * time.Millisecond, Window: 80 * time.Millisecond}}
	get, watch := watchless("get", serverbench.JSON), watchCase(serverbench.JSON, 4, 3)
	servers := lowerBoundFor(t, o, get, watch)
	for _, c := range []testCase{get, watch} {
		r, err := c.compare(t.Context(), o, servers)
		if err != nil {
			t.Fatalf("%s: %v", c.name(), err)
		}
		if want := 2 * len(c.requestTypes(cadastreName)); len(r.rows) != want {
			t.Errorf("%s: %d rows, want %d", c.name(), len(r.rows), want)
		}
		for _, row := range r.rows {
			if len(row.turns) != o.Rounds {
				t.Errorf("%s: %s %s: got %d turns, want %d", c.name(), row.server, row.requestType, len(row.turns), o.Rounds)
			}
		}
		checkBytes(t, r)
		if cost := r.find(cadastreName, full).client; c.verb == "get" && cost.Allocations == 0 {
			t.Error("client allocations = 0, want more than 0")
		}
	}
}

// checkBytes checks that responses without managedFields are smaller by the size of managedFields, and that the mean
// size of events to mixed watchers is the mean of both sizes.
func checkBytes(t *testing.T, r *result) {
	t.Helper()
	all, less := r.find(cadastreName, full).bytes(), r.find(cadastreName, dropped).bytes()
	if want := float64(len(whole) - len(stripped)); all-less != want {
		t.Errorf("%s: dropped saves %v bytes, want %v", r.name(), all-less, want)
	}
	if half := r.find(cadastreName, mixed); half != nil && half.bytes() != (all+less)/2 {
		t.Errorf("%s: mixed events have %v bytes, want the mean of %v and %v", r.name(), half.bytes(), all, less)
	}
}
