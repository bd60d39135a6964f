package builtin

import (
	"testing"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api"
)

func TestRetainUnset(t *testing.T) {
	of := mustType(t, "core.v1.PodTemplate")
	topology, ok := api.BuiltinTopology("", "v1", "PodTemplate")
	if !ok {
		t.Fatal("BuiltinTopology of PodTemplate: got none, want a topology")
	}
	for name, test := range map[string]struct{ before, doc, want string }{
		"zero scalars": {
			`{"template":{"spec":{"hostNetwork":false,"nodeName":"","priority":0}}}`,
			`{"template":{"spec":{"restartPolicy":"Always"}}}`,
			// priority is not retained: it is a pointer, for which 0 does not count as unset
			`{"template":{"spec":{"hostNetwork":false,"nodeName":"","restartPolicy":"Always"}}}`,
		},
		"empty lists and maps": {
			`{"metadata":{"labels":{},"finalizers":[],"name":"a"}}`,
			`{"metadata":{"name":"a"}}`,
			`{"metadata":{"finalizers":[],"labels":{},"name":"a"}}`,
		},
		"set fields are removed": {
			`{"metadata":{"labels":{"a":""},"name":"a"},"template":{"spec":{"hostNetwork":true,"nodeName":"a"}}}`,
			`{"metadata":{"labels":{},"name":"a"},"template":{"spec":{}}}`,
			`{"metadata":{"labels":{},"name":"a"},"template":{"spec":{}}}`,
		},
		"sent values win": {
			`{"template":{"spec":{"hostNetwork":false,"containers":[{"name":"a","stdin":false}]}}}`,
			`{"template":{"spec":{"hostNetwork":true,"containers":[{"name":"a","stdin":true}]}}}`,
			`{"template":{"spec":{"containers":[{"name":"a","stdin":true}],"hostNetwork":true}}}`,
		},
		"fields of removed structs": {
			`{"template":{"spec":{"dnsConfig":{"searches":[]}}}}`,
			`{"template":{"spec":{}}}`,
			`{"template":{"spec":{}}}`,
		},
		"items matched by keys": {
			`{"template":{"spec":{"containers":[{"name":"a","stdin":false},{"name":"b","tty":false}]}}}`,
			`{"template":{"spec":{"containers":[{"name":"c"},{"name":"b"},{"name":"a"}]}}}`,
			`{"template":{"spec":{"containers":[{"name":"c"},{"name":"b","tty":false},{"name":"a","stdin":false}]}}}`,
		},
		"items matched by index": {
			`{"template":{"spec":{"tolerations":[{"key":"a","value":""},{"key":"b","value":""}]}}}`,
			`{"template":{"spec":{"tolerations":[{"key":"a"},{"key":"c"}]}}}`,
			`{"template":{"spec":{"tolerations":[{"key":"a","value":""},{"key":"c","value":""}]}}}`,
		},
		"items of lists of different lengths": {
			`{"template":{"spec":{"tolerations":[{"key":"a","value":""}]}}}`,
			`{"template":{"spec":{"tolerations":[{"key":"b"},{"key":"a"}]}}}`,
			`{"template":{"spec":{"tolerations":[{"key":"b"},{"key":"a"}]}}}`,
		},
	} {
		doc := parse(t, test.doc)
		got := of.RetainZeroValues(doc, parse(t, test.before), topology)
		if got.JSON() != test.want {
			t.Errorf("%s: RetainZeroValues()\ngot  %s\nwant %s", name, got.JSON(), test.want)
		}
		if kept := document.Same(got, doc); kept != document.Equal(got, doc) {
			t.Errorf("%s: RetainZeroValues() returned a copy of the document, want the same Value if nothing changes", name)
		}
	}
}

func TestRetainUnsetDoesNotAllocate(t *testing.T) {
	of := mustType(t, "core.v1.PodTemplate")
	topology, _ := api.BuiltinTopology("", "v1", "PodTemplate")
	const text = `{"metadata":{"name":"a"},"template":{"spec":{"containers":[{"env":[{"name":"A","value":"1"}],"name":"a"}]}}}`
	before, doc := parse(t, text), parse(t, text)
	if n := testing.AllocsPerRun(100, func() { of.RetainZeroValues(doc, before, topology) }); n > 0 {
		t.Errorf("RetainZeroValues() without changes: got %v allocations, want 0", n)
	}
}
