package material_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/test/clients/kubectl"
	"github.com/cadastre/cadastre/test/clients/material"
	"github.com/cadastre/cadastre/test/clients/script"
	"github.com/cadastre/cadastre/test/clients/target"
)

// asKubectl is the environment variable that makes the test binary run as kubectl.
const asKubectl = "MATERIAL_AS_KUBECTL"

func TestMain(m *testing.M) {
	if os.Getenv(asKubectl) != "" {
		kubectl.Main()
	}
	os.Exit(target.Suite{M: m}.Run())
}

// TestProjects installs the CustomResourceDefinitions of each project, and compares the observations with those that
// were recorded with kube-apiserver.
func TestProjects(t *testing.T) {
	for _, project := range material.Projects {
		t.Run(project.Name, func(t *testing.T) { testProject(t, project) })
	}
}

func testProject(t *testing.T, project material.Project) {
	files, err := project.Fetch(t.Context())
	check(t, err)
	manifest, err := project.Read(files)
	check(t, err)
	observations, err := server(t).Observe(t.Context(), manifest)
	check(t, err)
	record, err := os.ReadFile(filepath.Join("testdata", project.Name+".txt"))
	check(t, err)
	recorded := material.Recorded(record)
	for _, o := range observations {
		if want := recorded[o.Name]; want != o.Compared() {
			t.Errorf("%s: got observation %s, want that of kube-apiserver, %s; make oracle-material prints both in full", o.Name, o.Compared(), want)
		}
		// kube-apiserver writes some objects again at the second apply. This is a deliberate difference: see
		// docs/differences.md.
		if target.Implementation() == target.Cadastre && o.Again != "" && o.Again != material.Unchanged {
			t.Errorf("%s: result of the second apply = %s, want unchanged", o.Name, o.Again)
		}
		delete(recorded, o.Name)
	}
	for name := range recorded {
		t.Errorf("%s: no observation, want the one that is recorded for kube-apiserver", name)
	}
	wantAllApplied(t, manifest, observations)
}

// wantAllApplied fails the test if there is a definition whose samples were all rejected.
func wantAllApplied(t *testing.T, manifest *material.Manifest, observations []material.Observation) {
	t.Helper()
	for _, d := range manifest.Definitions {
		listed := slices.ContainsFunc(observations, func(o material.Observation) bool {
			return strings.HasPrefix(o.Name, "kubectl get "+d.Typed.Name+" ")
		})
		if !listed {
			t.Errorf("%s: no sample was applied, want 1 or more", d.Typed.Name)
		}
	}
}

// server returns the server under test, with a new namespace for the samples.
func server(t *testing.T) *material.Server {
	t.Helper()
	s := &material.Server{
		Config: target.Config(t), Namespace: target.Namespace(t), Folder: t.TempDir(),
		Kubectl: os.Getenv(script.KubectlVariable),
	}
	if s.Kubectl == "" {
		self, err := os.Executable()
		check(t, err)
		s.Kubectl, s.Environment = self, []string{asKubectl + "=1"}
	}
	return s
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
