package builtin

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api"
)

// TestDropEmptied checks that DropEmptied removes lists and maps that a patch has emptied, if Go omits them, and retains
// lists and maps that are empty in the patch itself.
func TestDropEmptied(t *testing.T) {
	for _, test := range []struct{ name, before, after, patch, want string }{
		{"last label removed", `{"metadata":{"labels":{"a":"1"}}}`, `{"metadata":{"labels":{}}}`, `{}`, `{"metadata":{}}`},
		{"created empty", `{"metadata":{}}`, `{"metadata":{"labels":{}}}`, `{}`, `{"metadata":{}}`},
		{"empty before", `{"metadata":{"labels":{}}}`, `{"metadata":{"labels":{}},"data":{"a":"1"}}`, `{}`, `{"data":{"a":"1"},"metadata":{"labels":{}}}`},
		{"last finalizer removed", `{"metadata":{"finalizers":["a"]}}`, `{"metadata":{"finalizers":[]}}`, `{}`, `{"metadata":{}}`},
		{"in an item", `{"spec":{"containers":[{"name":"a","args":["x"]}]}}`, `{"spec":{"containers":[{"args":[],"name":"a"}]}}`, `{}`, `{"spec":{"containers":[{"name":"a"}]}}`},
		{"always written", `{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{"containers":[]}}`, `{}`, `{"spec":{"containers":null}}`},
		{"emptied struct", `{"spec":{"volumes":[{"name":"a","emptyDir":{"medium":"Memory"}}]}}`, `{"spec":{"volumes":[{"emptyDir":{},"name":"a"}]}}`, `{}`, `{"spec":{"volumes":[{"emptyDir":{},"name":"a"}]}}`},
		{"sent empty", `{"metadata":{}}`, `{"metadata":{"annotations":{},"labels":{}}}`, `{"metadata":{"annotations":{"a":null},"labels":{}}}`, `{"metadata":{"labels":{}}}`},
		{"sent empty in an item", `{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{"containers":[{"args":[],"name":"a"}]}}`, `{"spec":{"containers":[{"args":[],"name":"a"}]}}`, `{"spec":{"containers":[{"args":[],"name":"a"}]}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			pod, _ := Builtin("io.k8s.api.core.v1.Pod")
			before, err := document.ParseJSON(test.before)
			if err != nil {
				t.Fatal(err)
			}
			after, err := document.ParseJSON(test.after)
			if err != nil {
				t.Fatal(err)
			}
			patch, err := document.ParseJSON(test.patch)
			if err != nil {
				t.Fatal(err)
			}
			if got := pod.DropEmptied(before, after, patch).JSON(); got != test.want {
				t.Errorf("DropEmptied() = %s, want %s", got, test.want)
			}
		})
	}
}

// TestDropEmptiedOfClaims checks that DropEmptied retains resources.requests of a PersistentVolumeClaim that a patch has
// emptied.
func TestDropEmptiedOfClaims(t *testing.T) {
	claim, _ := Builtin("io.k8s.api.core.v1.PersistentVolumeClaim")
	for _, test := range []struct{ before, want string }{
		{`{"spec":{"resources":{"requests":{"storage":"1Gi"}}}}`, `{"spec":{"resources":{"requests":{}}}}`},
		{`{"spec":{"resources":{}}}`, `{"spec":{"resources":{}}}`},
	} {
		before, errBefore := document.ParseJSON(test.before)
		after, errAfter := document.ParseJSON(`{"spec":{"resources":{"limits":{},"requests":{}}}}`)
		if errBefore != nil || errAfter != nil {
			t.Fatal(errBefore, errAfter)
		}
		if got := claim.DropEmptied(before, after, document.Value{}).JSON(); got != test.want {
			t.Errorf("DropEmptied(%s) = %s, want %s", test.before, got, test.want)
		}
	}
}

// TestDropPruned checks that DropPruned removes lists, maps and structs that an apply has emptied, unless they are empty in
// the apply configuration, or were empty before the apply.
func TestDropPruned(t *testing.T) {
	topology, ok := api.BuiltinTopology("", "v1", "Pod")
	if !ok {
		t.Fatal("BuiltinTopology of Pod: got none, want a topology")
	}
	const full = `{"spec":{"containers":[{"env":[{"name":"A","valueFrom":{"fieldRef":{}}}],"name":"a","ports":[{"containerPort":1,"protocol":"TCP"}]}]}}`
	for _, test := range []struct{ name, before, after, config, want string }{
		{"labels", `{"metadata":{"labels":{"a":"1"}}}`, `{"metadata":{"labels":{}}}`, `{}`, `{"metadata":{}}`},
		{"applied empty", `{"metadata":{"labels":{"a":"1"}}}`, `{"metadata":{"labels":{}}}`, `{"metadata":{"labels":{}}}`, `{"metadata":{"labels":{}}}`},
		{"empty before", `{"metadata":{"labels":{}}}`, `{"metadata":{"labels":{},"name":"x"}}`, `{}`, `{"metadata":{"labels":{},"name":"x"}}`},
		{"emptied list", `{"metadata":{"finalizers":["a"]}}`, `{"metadata":{"finalizers":[]}}`, `{}`, `{"metadata":{}}`},
		{"emptied struct in an item", full, `{"spec":{"containers":[{"env":[{"name":"A","valueFrom":{}}],"name":"a"}]}}`, `{}`,
			`{"spec":{"containers":[{"env":[{"name":"A"}],"name":"a"}]}}`},
		{"applied empty in an item", full, `{"spec":{"containers":[{"env":[{"name":"A","valueFrom":{}}],"name":"a"}]}}`,
			`{"spec":{"containers":[{"env":[{"name":"A","valueFrom":{}}],"name":"a"}]}}`, `{"spec":{"containers":[{"env":[{"name":"A","valueFrom":{}}],"name":"a"}]}}`},
		{"last item removed", full, `{"spec":{"containers":[{"env":[],"name":"a","ports":[]}]}}`, `{"spec":{"containers":[{"name":"a","ports":[]}]}}`,
			`{"spec":{"containers":[{"name":"a","ports":[]}]}}`},
		{"item at another index", `{"spec":{"containers":[{"name":"b"},{"args":["x"],"name":"a"}]}}`, `{"spec":{"containers":[{"args":[],"name":"a"}]}}`, `{}`,
			`{"spec":{"containers":[{"name":"a"}]}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			pod, _ := Builtin("io.k8s.api.core.v1.Pod")
			var parsed [3]document.Value
			for i, text := range []string{test.before, test.after, test.config} {
				var err error
				if parsed[i], err = document.ParseJSON(text); err != nil {
					t.Fatal(err)
				}
			}
			if got := pod.DropPruned(parsed[0], parsed[1], parsed[2], topology).JSON(); got != test.want {
				t.Errorf("DropPruned() = %s, want %s", got, test.want)
			}
		})
	}
}

// TestDropPrunedManyItems checks that DropPruned does not search the apply configuration for each of many changed items.
func TestDropPrunedManyItems(t *testing.T) {
	topology, _ := api.BuiltinTopology("", "v1", "Pod")
	pod, _ := Builtin("io.k8s.api.core.v1.Pod")
	withEnv := func(count int, value string) document.Value {
		var items []string
		for i := range count {
			items = append(items, fmt.Sprintf(`{"name":"e%06d"%s}`, i, value))
		}
		doc, err := document.ParseJSON(`{"spec":{"containers":[{"name":"a","env":[` + strings.Join(items, ",") + `]}]}}`)
		if err != nil {
			t.Fatal(err)
		}
		return doc
	}
	const n = 100_000
	live, merged, config := withEnv(n, `,"value":"1"`), withEnv(n, ""), withEnv(n-1, "")
	begun := time.Now()
	if got := pod.DropPruned(live, merged, config, topology); !document.Equal(got, merged) {
		t.Error("DropPruned() changed the object, want the merged object")
	}
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("DropPruned() of %d items took %v, want a duration linear in their number", n, took)
	}
}
