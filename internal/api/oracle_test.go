package api

import (
	"os"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/document"
)

// goldenLines calls visit with the tab-separated fields of each line, except comments, of a golden file that
// test/oracle/strategies recorded from kube-apiserver's strategies.
func goldenLines(t *testing.T, name string, visit func(words []string)) {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		if !strings.HasPrefix(line, "#") {
			visit(strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
		}
	}
}

// TestStrategies compares the reset fields and the traits of the built-in kinds with the recorded properties of Kubernetes'
// strategies.
func TestStrategies(t *testing.T) {
	compared := 0
	goldenLines(t, "testdata/strategies.txt", func(words []string) {
		compared++
		k, endpoint := builtin(t, words[0]), strings.TrimPrefix(words[1], mainEndpoint)
		want := map[string]string{}
		for _, word := range strings.Fields(words[2]) {
			name, value, _ := strings.Cut(word, "=")
			want[name] = value
		}
		for _, version := range k.Versions {
			reset, ok := want[k.APIVersion(version)]
			if !ok {
				reset = "{}"
			}
			if got := k.ResetFieldSets(endpoint)[k.APIVersion(version)].FieldsV1(); got != reset {
				t.Errorf("%v %q: ResetFieldSets() = %s, want %s", k, endpoint, got, reset)
			}
		}
		got := Traits{AllowCreateOnUpdate: want["creates"] == "true", RequireResourceVersion: want["unconditional"] == "false",
			OrphanDependents: want["dependents"] == "OrphanDependents", NoGarbageCollection: want["dependents"] == "Unsupported"}
		if k.AllowCreateOnUpdate != got.AllowCreateOnUpdate || k.RequireResourceVersion != got.RequireResourceVersion || k.OrphanDependents != got.OrphanDependents || k.NoGarbageCollection != got.NoGarbageCollection {
			t.Errorf("%v: got traits %+v, want %+v", k, k.Traits, got)
		}
	})
	if compared < 70 {
		t.Errorf("compared the strategies of %d endpoints, want at least 70", compared)
	}
}

// TestPrepared compares the results of Prepare with the objects that Kubernetes' strategies returned for the same input.
func TestPrepared(t *testing.T) {
	var k *Kind
	var endpoint string
	var obj, live document.Value
	compared := 0
	goldenLines(t, "testdata/prepared.txt", func(words []string) {
		if words[0] != "=" {
			k, endpoint = builtin(t, words[0]), strings.TrimPrefix(words[1], mainEndpoint)
			obj, live = parse(t, words[2]), parse(t, strings.TrimPrefix(words[3], "-"))
			return
		}
		compared++
		got, want := k.Prepare(endpoint, k.Normalize(obj), live, testWrite), parse(t, words[1])
		if !document.Equal(got, want) {
			t.Errorf("%v: Prepare(%q, \n%v, \n%v) =\n%v, want\n%v", k, endpoint, obj, live, got, want)
		}
	})
	if compared < 100 {
		t.Errorf("compared %d prepared objects, want at least 100", compared)
	}
}
