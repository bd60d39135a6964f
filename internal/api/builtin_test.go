package api

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cadastre/cadastre/internal/api/builtin/kinds"
)

func TestBuiltin(t *testing.T) {
	kinds := Builtin()
	if len(kinds) < 60 {
		t.Errorf("Builtin() returned %d kinds, want at least 60", len(kinds))
	}
	seen := map[string]bool{}
	for _, k := range kinds {
		for _, v := range k.Versions {
			topology, ok := BuiltinTopology(k.Group, v, k.Name)
			if !ok && !k.CreateOnly {
				t.Errorf("BuiltinTopology of %v at version %s: got none, want a topology", k, v)
			}
			if ok && topology.Map == nil {
				t.Errorf("BuiltinTopology of %v at version %s: got %v, want a map", k, v, topology)
			}
		}
		for _, name := range append([]string{k.String()}, k.ShortNames...) {
			if seen[name] && name != "ev" { // the Event kinds of two groups share the short name ev
				t.Errorf("name %s: got two kinds with it, want one", name)
			}
			seen[name] = true
		}
	}
}

func TestKindNames(t *testing.T) {
	k := mustParseKind(t, `kind Deployment
    group: apps
    versions: v1
    scope: namespaced
    plural: deployments
    short names: deploy dp
    categories: all
    subresources: status scale
`)
	if k.Singular() != "deployment" || k.ListName() != "DeploymentList" || k.APIVersion("v1") != "apps/v1" || k.String() != "deployments.apps" || k.StoreName() != "apps/deployments" {
		t.Errorf("names of the kind Deployment: got %+v, want singular deployment, list kind DeploymentList and store name apps/deployments", k)
	}
	if strings.Join(k.ShortNames, " ") != "deploy dp" || strings.Join(k.Subresources, " ") != "scale status" || !k.Namespaced || k.CreateOnly {
		t.Errorf("kind Deployment: got %+v, want short names deploy dp, subresources scale status, namespaced, all verbs", k)
	}
	core := mustParseKind(t, `kind Node
    group: core
    versions: v1 v2
    deprecated: v1 "use v2" removed in 1.40
    scope: cluster
    plural: nodes
    singular: vertex
    verbs: create
    generation: from request on change of spec metadata.labels
`)
	if core.Group != "" || core.APIVersion("v1") != "v1" || core.String() != "nodes" || core.StoreName() != "core/nodes" || core.Namespaced || !core.CreateOnly || !core.HasVersion("v2") {
		t.Errorf("kind Node: got %+v, want the core group, cluster scope, only the verb create, and version v2", core)
	}
	if core.Deprecated["v1"] != (Deprecation{"use v2", "1.40"}) || core.Singular() != "vertex" || core.Generation.First != 0 || len(core.Generation.Counted) != 2 {
		t.Errorf("kind Node: got %+v, want v1 deprecated, singular vertex, and the generation of the request", core)
	}
}

// mustParseKind parses the text of a kind file.
func mustParseKind(t *testing.T, text string) *Kind {
	t.Helper()
	k, err := parseKind(text)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func parseKind(text string) (*Kind, error) {
	group := regexp.MustCompile(`group: (\S+)`).FindStringSubmatch(text)
	name := regexp.MustCompile(`kind (\S+)`).FindStringSubmatch(text)
	set, err := kinds.Read(fstest.MapFS{group[1] + "/" + strings.ToLower(name[1]) + ".kind": {Data: []byte(text)}})
	if err != nil {
		return nil, err
	}
	all, err := newKinds(set)
	return all[0], err
}

func TestInvalidKinds(t *testing.T) {
	for text, want := range map[string]string{
		"scope: global":                      `apps/deployment.kind:5: scope: expected namespaced or cluster, received "global"`,
		"deprecated: v2 \"no\"":              `apps/deployment.kind:5: deprecated: expected VERSION`,
		"deprecated: v1 no":                  `apps/deployment.kind:5: deprecated: expected VERSION`,
		"deprecated: v1 \"no\" soon":         `apps/deployment.kind:5: deprecated: expected VERSION`,
		"verbs: get":                         `apps/deployment.kind:5: verbs: expected create`,
		"generation: 1":                      `apps/deployment.kind:5: generation: expected from NUMBER|request`,
		"generation: from one":               `apps/deployment.kind:5: generation: expected from NUMBER|request`,
		"generation: from 1 with spec":       `apps/deployment.kind:5: generation: expected from NUMBER|request`,
		"traits: graceful":                   `apps/deployment.kind:5: traits: expected allow-create-on-update, `,
		"strategy:\n        prepare: x":      `apps/deployment.kind:6: expected normalize, prepare for create`,
		"strategy:\n        normalize: x":    `apps/deployment.kind:6: expected normalize, prepare for create`,
		"strategy:\n        x":               `apps/deployment.kind:6: expected NAME: VALUE, received "x"`,
		"strategy:\n        convert v1: x":   `apps/deployment.kind:6: expected normalize, prepare for create`,
		"selectable fields:\n        a b":    `apps/deployment.kind:6: expected NAME [at PATH [or PATH]] [default VALUE]`,
		"selectable fields:\n        a b c":  `apps/deployment.kind:6: expected NAME [at PATH [or PATH]] [default VALUE]`,
		"reset fields:\n        main":        `apps/deployment.kind:6: expected main|SUBRESOURCE PATH, received "main"`,
		"reset fields:\n        main a foo":  `apps/deployment.kind:6: expected kept-on-create, owned or ownership-only, received "foo"`,
		"reset fields:\n        main a = {":  `apps/deployment.kind:6: `,
		"reset fields:\n          main spec": `apps/deployment.kind:6: expected an indent of a multiple of 4 spaces`,
	} {
		text = "kind Deployment\n    group: apps\n    versions: v1\n\n    " + text + "\n"
		if _, err := parseKind(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error of %q = %v, want %q", text, err, want)
		}
	}
	if _, err := parseKind("kind Deployment\n    group: apps\n"); err == nil || !strings.Contains(err.Error(), `apps/deployment.kind:1: expected the property "plural"`) {
		t.Errorf("kind file without required properties: error = %v, want one about the property plural", err)
	}
}

// TestGenerated checks that the checked-in topologies.json.gz equals the output of the generator for the client-go version
// in go.mod.
func TestGenerated(t *testing.T) {
	name := filepath.Join(t.TempDir(), "topologies.json.gz")
	if out, err := exec.Command("go", "run", "./generate", name).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	generated, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(generated, packedTopologies) {
		t.Error("topologies.json.gz is outdated: run go generate ./internal/api")
	}
}

func BenchmarkTopologies(b *testing.B) {
	for b.Loop() {
		if _, err := unpackTopologies(packedTopologies); err != nil {
			b.Fatal(err)
		}
	}
}
