package rules

import (
	"testing"

	"github.com/cadastre/cadastre/document"
)

// TestWithoutEmptied: what a patch emptied goes, as far as Go would not write it; what somebody sent
// empty stays.
func TestWithoutEmptied(t *testing.T) {
	for _, test := range []struct{ name, before, after, want string }{
		{"the last label", `{"metadata":{"labels":{"a":"1"}}}`, `{"metadata":{"labels":{}}}`, `{"metadata":{}}`},
		{"no label before", `{"metadata":{}}`, `{"metadata":{"labels":{}}}`, `{"metadata":{}}`},
		{"empty before", `{"metadata":{"labels":{}}}`, `{"metadata":{"labels":{}},"data":{"a":"1"}}`, `{"data":{"a":"1"},"metadata":{"labels":{}}}`},
		{"the last finalizer", `{"metadata":{"finalizers":["a"]}}`, `{"metadata":{"finalizers":[]}}`, `{"metadata":{}}`},
		{"in an item", `{"spec":{"containers":[{"name":"a","args":["x"]}]}}`, `{"spec":{"containers":[{"args":[],"name":"a"}]}}`, `{"spec":{"containers":[{"name":"a"}]}}`},
		{"always written", `{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{"containers":[]}}`, `{"spec":{"containers":null}}`},
		{"a struct", `{"spec":{"volumes":[{"name":"a","emptyDir":{"medium":"Memory"}}]}}`, `{"spec":{"volumes":[{"emptyDir":{},"name":"a"}]}}`, `{"spec":{"volumes":[{"emptyDir":{},"name":"a"}]}}`},
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
			if got := pod.WithoutEmptied(before, after).JSON(); got != test.want {
				t.Errorf("received %s, want %s", got, test.want)
			}
		})
	}
}
