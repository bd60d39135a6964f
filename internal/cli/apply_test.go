package cli

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/cadastre/cadastre/cadastretest"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cli/cluster"
	"github.com/cadastre/cadastre/ownership"
)

// TestOnlyUpdateLosesRace checks that --only-update does not recreate an object that is deleted after it was read.
func TestOnlyUpdateLosesRace(t *testing.T) {
	config := cadastretest.Start(t)
	f := newFixture(t, config, 1)
	a := applyOperation{
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
	if _, err := a.apply(t.Context()); !errors.Is(err, errNotFound) {
		t.Errorf("apply() of a deleted object: error = %v, want errNotFound", err)
	}
	if _, err := a.target.get(t.Context(), f.cluster); !cluster.IsCode(err, http.StatusNotFound) {
		t.Errorf("get() after apply(): error = %v, want NotFound", err)
	}
}

// TestOnlyCreateLosesRace checks that --only-create does not change an object that is created after the read found none.
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
			a := applyOperation{
				applyFlags: applyFlags{manager: test.manager, onlyCreate: true, force: test.force, dryRun: test.dryRun},
				cluster:    f.cluster, target: target{f.kind, "default", test.name}, config: configOf(t, test.name, "a", "mine"),
			}
			if err := a.read(t.Context()); err != nil {
				t.Fatal(err)
			}
			f.apply(t, test.name, "old", "a")
			if _, err := a.apply(t.Context()); !errors.Is(err, errExists) {
				t.Errorf("apply() = %v, want errExists", err)
			}
			if now, err := a.target.get(t.Context(), f.cluster); err != nil || now.Document.Lookup("data", "a").Text() != "x" {
				t.Errorf("get() after apply() = %v, %s, want data.a unchanged", err, now.JSON())
			}
		})
	}
}

// TestForcePathLosesRace checks that conflicts are evaluated again if the object changes after it was read, and that only
// conflicts that --force-path covers are forced.
func TestForcePathLosesRace(t *testing.T) {
	f := newFixture(t, cadastretest.Start(t), 2)
	path, err := ownership.ParsePath("data.a")
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string, config document.Value) applyOperation {
		a := applyOperation{
			applyFlags: applyFlags{manager: "new", forced: newForcedPaths([]ownership.PathExpression{path})},
			cluster:    f.cluster, target: target{f.kind, "default", name}, config: config,
		}
		if err := a.read(t.Context()); err != nil {
			t.Fatal(err)
		}
		return a
	}
	unrelated := read("c0", configOf(t, "c0", "a", "mine"))
	f.apply(t, "c0", "other", "b")
	after, err := unrelated.apply(t.Context())
	if err != nil || after.Document.Lookup("data", "a").Text() != "mine" || after.Document.Lookup("data", "b").Text() != "x" {
		t.Errorf("apply() = %v, %s, want data.a = mine, data.b = x", err, after.JSON())
	}
	related := read("c1", setAt(configOf(t, "c1", "a", "mine"), document.NewString("mine"), "data", "b"))
	f.apply(t, "c1", "other", "b")
	refused := (*conflictsError)(nil)
	if _, err := related.apply(t.Context()); !errors.As(err, &refused) || len(refused.conflicts) != 1 {
		t.Errorf("apply() = %v, want one conflict", err)
	}
	if now, err := related.target.get(t.Context(), f.cluster); err != nil || now.Document.Lookup("data", "a").Text() != "x" {
		t.Errorf("get() after apply() = %v, %s, want data.a unchanged", err, now.JSON())
	}
}

// TestErrorNamesObjectOnce checks that the error of a failed restore of managedFields does not contain the name of the
// object, because the caller prefixes it.
func TestErrorNamesObjectOnce(t *testing.T) {
	f := newFixture(t, cadastretest.Start(t), 1)
	a := applyOperation{applyFlags: applyFlags{manager: "new"}, cluster: f.cluster, target: target{f.kind, "default", "c0"}}
	if err := a.read(t.Context()); err != nil {
		t.Fatal(err)
	}
	transferred := a.live
	f.apply(t, "c0", "other", "b")
	err := a.restoreOwnership(t.Context(), transferred, nil, errors.New("refused"))
	if !cluster.IsCode(err, http.StatusConflict) || strings.Contains(err.Error(), a.target.String()+": ") {
		t.Errorf("restoreOwnership() = %v, want a conflict without the object's name", err)
	}
}
