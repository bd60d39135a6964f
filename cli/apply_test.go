package cli

import (
	"errors"
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/cadastre/cadastre/cadastretest"
	"github.com/cadastre/cadastre/internal/cluster"
	"github.com/cadastre/cadastre/ownership"
)

// TestOnlyUpdateLosesRace has the object deleted after it was read: it must not come back.
func TestOnlyUpdateLosesRace(t *testing.T) {
	config := cadastretest.Start(t)
	f := newFixture(t, config, 1)
	a := application{
		applyFlags: applyFlags{manager: "old", onlyUpdate: true},
		cluster:    f.cluster, target: target{f.kind, "default", "c0"}, config: configOf(t, "c0", "a", "mine"),
	}
	if err := a.read(t.Context()); err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := client.CoreV1().ConfigMaps("default").Delete(t.Context(), "c0", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.apply(t.Context()); !errors.Is(err, errIsNotThere) {
		t.Errorf("received %v", err)
	}
	if _, err := a.target.get(t.Context(), f.cluster); !cluster.IsCode(err, http.StatusNotFound) {
		t.Errorf("it came back: %v", err)
	}
}

// TestOnlyCreateLosesRace has somebody else make the object after it was seen not to be there: it is left as it is.
func TestOnlyCreateLosesRace(t *testing.T) {
	f := newFixture(t, cadastretest.Start(t), 0)
	for _, test := range []struct {
		name          string
		force, dryRun bool
		manager       string
	}{
		{name: "apply", manager: "old"},
		{name: "force", force: true, manager: "old"},
		{name: "dry-run", dryRun: true, manager: "old"},
		{name: "conflict", manager: "new"},
		{name: "forced-conflict", force: true, manager: "new"},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := application{
				applyFlags: applyFlags{manager: test.manager, onlyCreate: true, force: test.force, dryRun: test.dryRun},
				cluster:    f.cluster, target: target{f.kind, "default", test.name}, config: configOf(t, test.name, "a", "mine"),
			}
			if err := a.read(t.Context()); err != nil {
				t.Fatal(err)
			}
			f.apply(t, test.name, "old", "a")
			if _, err := a.apply(t.Context()); !errors.Is(err, errIsThere) {
				t.Errorf("received %v", err)
			}
			if now, err := a.target.get(t.Context(), f.cluster); err != nil || now.Document.Lookup("data", "a").Text() != "x" {
				t.Errorf("%v: %s", err, now.JSON())
			}
		})
	}
}

// TestForcePathLosesRace has somebody else write the object after it was read: nothing is forced that was not
// looked at.
func TestForcePathLosesRace(t *testing.T) {
	f := newFixture(t, cadastretest.Start(t), 1)
	path, err := ownership.ParsePath("data.a")
	if err != nil {
		t.Fatal(err)
	}
	a := application{
		applyFlags: applyFlags{manager: "new", forced: newForcedPaths([]ownership.WrittenPath{path})},
		cluster:    f.cluster, target: target{f.kind, "default", "c0"}, config: configOf(t, "c0", "a", "mine"),
	}
	if err := a.read(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.apply(t, "c0", "other", "b")
	if _, err := a.apply(t.Context()); !cluster.IsCode(err, http.StatusConflict) {
		t.Errorf("applied: %v", err)
	}
	if err := a.read(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after, err := a.apply(t.Context()); err != nil || after.Document.Lookup("data", "a").Text() != "mine" {
		t.Errorf("%v: %s", err, after.JSON())
	}
}
