package builtin

import (
	"testing"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api"
)

func TestKeepUnset(t *testing.T) {
	of := mustType(t, "core.v1.PodTemplate")
	topology, ok := api.BuiltinTopology("", "v1", "PodTemplate")
	if !ok {
		t.Fatal("there is no topology")
	}
	for name, test := range map[string]struct{ before, doc, want string }{
		"scalars that Go does not write": {
			`{"template":{"spec":{"hostNetwork":false,"nodeName":"","priority":0}}}`,
			`{"template":{"spec":{"restartPolicy":"Always"}}}`,
			`{"template":{"spec":{"hostNetwork":false,"nodeName":"","restartPolicy":"Always"}}}`, // priority is a pointer
		},
		"lists and maps without anything in them": {
			`{"metadata":{"labels":{},"finalizers":[],"name":"a"}}`,
			`{"metadata":{"name":"a"}}`,
			`{"metadata":{"finalizers":[],"labels":{},"name":"a"}}`,
		},
		"what is set is removed": {
			`{"metadata":{"labels":{"a":""},"name":"a"},"template":{"spec":{"hostNetwork":true,"nodeName":"a"}}}`,
			`{"metadata":{"labels":{},"name":"a"},"template":{"spec":{}}}`,
			`{"metadata":{"labels":{},"name":"a"},"template":{"spec":{}}}`,
		},
		"what is sent counts": {
			`{"template":{"spec":{"hostNetwork":false,"containers":[{"name":"a","stdin":false}]}}}`,
			`{"template":{"spec":{"hostNetwork":true,"containers":[{"name":"a","stdin":true}]}}}`,
			`{"template":{"spec":{"containers":[{"name":"a","stdin":true}],"hostNetwork":true}}}`,
		},
		"structs that are removed are not looked into": {
			`{"template":{"spec":{"dnsConfig":{"searches":[]}}}}`,
			`{"template":{"spec":{}}}`,
			`{"template":{"spec":{}}}`,
		},
		"items by their keys": {
			`{"template":{"spec":{"containers":[{"name":"a","stdin":false},{"name":"b","tty":false}]}}}`,
			`{"template":{"spec":{"containers":[{"name":"c"},{"name":"b"},{"name":"a"}]}}}`,
			`{"template":{"spec":{"containers":[{"name":"c"},{"name":"b","tty":false},{"name":"a","stdin":false}]}}}`,
		},
		"items without keys by their places": {
			`{"template":{"spec":{"tolerations":[{"key":"a","value":""},{"key":"b","value":""}]}}}`,
			`{"template":{"spec":{"tolerations":[{"key":"a"},{"key":"c"}]}}}`,
			`{"template":{"spec":{"tolerations":[{"key":"a","value":""},{"key":"c","value":""}]}}}`,
		},
		"items without keys of lists that differ in length": {
			`{"template":{"spec":{"tolerations":[{"key":"a","value":""}]}}}`,
			`{"template":{"spec":{"tolerations":[{"key":"b"},{"key":"a"}]}}}`,
			`{"template":{"spec":{"tolerations":[{"key":"b"},{"key":"a"}]}}}`,
		},
	} {
		doc := parse(t, test.doc)
		got := of.KeepUnset(doc, parse(t, test.before), topology)
		if got.JSON() != test.want {
			t.Errorf("%s:\nwant     %s\nreceived %s", name, test.want, got.JSON())
		}
		if kept := document.Same(got, doc); kept != document.Equal(got, doc) {
			t.Errorf("%s: nothing was kept, and the document was built anew", name)
		}
	}
}

func TestKeepUnsetAllocatesNothing(t *testing.T) {
	of := mustType(t, "core.v1.PodTemplate")
	topology, _ := api.BuiltinTopology("", "v1", "PodTemplate")
	const text = `{"metadata":{"name":"a"},"template":{"spec":{"containers":[{"env":[{"name":"A","value":"1"}],"name":"a"}]}}}`
	before, doc := parse(t, text), parse(t, text)
	if n := testing.AllocsPerRun(100, func() { of.KeepUnset(doc, before, topology) }); n > 0 {
		t.Errorf("expected no allocations where there is nothing to keep, received %v", n)
	}
}
