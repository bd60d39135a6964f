package namespacelifecycle

import (
	"errors"
	"testing"

	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/admission/admissiontest"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// TestCases compares the plugin with recorded answers of kube-apiserver's plugin.
func TestCases(t *testing.T) { admissiontest.Replay(t, Plugin{}) }

// TestNamespaceMustNotChange checks that the commit of a new object is conditional on its namespace being unchanged.
func TestNamespaceMustNotChange(t *testing.T) {
	reader := admissiontest.NewReader(`{kind: Namespace, metadata: {name: ns}}`)
	a := admissiontest.New(admission.Create, "configmaps", `{}`, "", reader)
	if err := admissiontest.Run(t.Context(), Plugin{}, a); err != nil {
		t.Fatal(err)
	}
	key, commits := watchcache.Key{Kind: "core/namespaces", Name: "ns"}.String(), admission.RecordOf(a).Commits()
	if len(commits) != 1 || commits[0].Key != key || commits[0].Expected != 1 || !commits[0].Keep {
		t.Errorf("Commits() = %+v, want the condition that %s is at revision 1", commits, key)
	}
}

func TestReadError(t *testing.T) {
	failure := errors.New("closed")
	a := admissiontest.New(admission.Create, "configmaps", `{}`, "", &admissiontest.Reader{Err: failure})
	if err := admissiontest.Run(t.Context(), Plugin{}, a); !errors.Is(err, failure) {
		t.Errorf("Run() with a failing Reader = %v, want %v", err, failure)
	}
}

// TestNoNamespace checks that the plugin admits a namespaced object without a namespace, which validation rejects later.
func TestNoNamespace(t *testing.T) {
	a := admissiontest.New(admission.Create, "configmaps", `{}`, "", admissiontest.NewReader())
	a.Namespace = ""
	if err := admissiontest.Run(t.Context(), Plugin{}, a); err != nil {
		t.Errorf("Run() = %v, want no error", err)
	}
}
