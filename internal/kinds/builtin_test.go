package kinds

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestBuiltin(t *testing.T) {
	kinds := Builtin()
	if len(kinds) < 60 {
		t.Errorf("only %d kinds", len(kinds))
	}
	seen := map[string]bool{}
	for _, k := range kinds {
		for _, v := range k.Versions {
			topology, ok := BuiltinTopology(k.Group, v, k.Name)
			if !ok && !k.OnlyCreate {
				t.Errorf("%v has no topology", k)
			}
			if ok && topology.Map == nil {
				t.Errorf("%v is not a map", k)
			}
		}
		for _, name := range append([]string{k.String()}, k.ShortNames...) {
			if seen[name] && name != "ev" { // events are there twice
				t.Errorf("%s is there twice", name)
			}
			seen[name] = true
		}
	}
}

func TestNames(t *testing.T) {
	k := newKind(t, "apps/v1 Deployment deployments namespaced short=deploy,dp in=all status scale")
	if k.Singular() != "deployment" || k.ListName() != "DeploymentList" || k.APIVersion("v1") != "apps/v1" || k.String() != "deployments.apps" || k.StoreName() != "apps/deployments" {
		t.Errorf("%+v", k)
	}
	if strings.Join(k.ShortNames, " ") != "deploy dp" || !k.HasStatus || !k.HasScale || !k.Namespaced || k.OnlyCreate {
		t.Errorf("%+v", k)
	}
	core := newKind(t, "core/v1,v2 Node nodes cluster create")
	if core.Group != "" || core.APIVersion("v1") != "v1" || core.String() != "nodes" || core.StoreName() != "core/nodes" || core.Namespaced || !core.OnlyCreate || !core.HasVersion("v2") {
		t.Errorf("%+v", core)
	}
}

func newKind(t *testing.T, line string) *Kind {
	t.Helper()
	kinds, err := parseKinds(line)
	if err != nil {
		t.Fatal(err)
	}
	return kinds[0]
}

func TestBadKinds(t *testing.T) {
	for text, want := range map[string]string{
		"apps/v1 Deployment":                              "line 1: expected GROUP/VERSION KIND RESOURCE SCOPE",
		"\napps Deployment deployments cluster":           "line 2: expected GROUP/VERSION",
		"apps/v1 Deployment deployments global":           "expected namespaced or cluster",
		"apps/v1 Deployment deployments cluster foo=1":    `received "foo=1"`,
		"apps/v1 Deployment deployments cluster foo":      `received "foo"`,
		"apps/v1 Deployment deployments cluster short=":   `received "short="`,
		"apps/v1 Deployment deployments cluster status=1": `received "status=1"`,
	} {
		if _, err := parseKinds(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestGenerated makes the topologies anew: they must be those of the client-go that go.mod has.
func TestGenerated(t *testing.T) {
	name := filepath.Join(t.TempDir(), "topologies.json.gz")
	if out, err := exec.Command("go", "run", "./generate", name).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	made, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(made, packedTopologies) {
		t.Error("topologies.json.gz is not what generate makes: run go generate ./internal/kinds")
	}
}

func BenchmarkTopologies(b *testing.B) {
	for b.Loop() {
		if _, err := unpackTopologies(packedTopologies); err != nil {
			b.Fatal(err)
		}
	}
}
