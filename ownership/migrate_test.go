package ownership

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/strategic"
)

func TestMigrate(t *testing.T) {
	csa := "kubectl-client-side-apply/Update"
	for _, test := range []struct {
		name      string
		migration Migration
		before    []apply.Entry
		after     string
	}{
		{
			"no applier yet", Migration{To: "kubectl"},
			[]apply.Entry{newEntry(t, csa, "data", "data.key"), newEntry(t, "other/Update", "data.x")},
			"kubectl/Apply: .data .data.key\nother/Update: .data.x\n",
		},
		{
			"applier and client-side apply own fields", Migration{To: "kubectl"},
			[]apply.Entry{newEntry(t, "kubectl/Apply", "data.key"), newEntry(t, csa, "data", "data.key", "data.legacy")},
			"kubectl/Apply: .data .data.key .data.legacy\n",
		},
		{
			"no entry of client-side apply", Migration{To: "kubectl"},
			[]apply.Entry{newEntry(t, "kubectl/Apply", "data.key"), newEntry(t, "kubectl/Update", "data.legacy")},
			"",
		},
		{
			"fields of before-first-apply", Migration{To: "kubectl"},
			[]apply.Entry{newEntry(t, "kubectl/Apply", "data.key"), newEntry(t, "before-first-apply/Update", "data.legacy")},
			"kubectl/Apply: .data.key .data.legacy\n",
		},
		{
			"several managers, any operation",
			Migration{From: []Selector{{Manager: "a"}, {Manager: "b"}, {Manager: "c", Operation: apply.Update}}, To: "ci"},
			[]apply.Entry{
				newEntry(t, "a/Apply", "data.a"), newEntry(t, "c/Apply", "data.kept"),
				newEntry(t, "b/Update", "data.b"), newEntry(t, "c/Update", "data.c"),
			},
			"c/Apply: .data.kept\nci/Apply: .data.a .data.b .data.c\n",
		},
		{
			"Update entry of the applier", Migration{From: []Selector{{Manager: "ci"}}, To: "ci"},
			[]apply.Entry{newEntry(t, "ci/Apply", "data.a"), newEntry(t, "ci/Update", "data.b")},
			"ci/Apply: .data.a .data.b\n",
		},
		{
			"entries of status do not change", Migration{From: []Selector{{Manager: "a", Subresource: AnySubresource}}, To: "ci"},
			[]apply.Entry{newEntry(t, "a/Update", "spec.a"), newEntry(t, "a/Update/scale", "spec.replicas"), newEntry(t, "a/Update/status", "status.x")},
			"ci/Apply: .spec.a .spec.replicas\na/Update/status: .status.x\n",
		},
		{
			"only the main resource by default", Migration{From: []Selector{{Manager: "a"}}, To: "ci"},
			[]apply.Entry{newEntry(t, "a/Update", "spec.a"), newEntry(t, "a/Update/scale", "spec.replicas")},
			"ci/Apply: .spec.a\na/Update/scale: .spec.replicas\n",
		},
		{
			"subresource", Migration{From: []Selector{{Manager: "a", Subresource: "scale"}}, To: "ci", Subresource: "scale"},
			[]apply.Entry{newEntry(t, "ci/Apply", "spec.a"), newEntry(t, "a/Update/scale", "spec.replicas")},
			"ci/Apply: .spec.a\nci/Apply/scale: .spec.replicas\n",
		},
		{
			"an entry without fields is removed", Migration{From: []Selector{{Manager: "a"}}, To: "ci"},
			[]apply.Entry{newEntry(t, "a/Update"), newEntry(t, "ci/Apply", "spec.a"), newEntry(t, "other/Update")},
			"ci/Apply: .spec.a\nother/Update:\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := apply.Object{Document: document.NewMap(), Entries: test.before}
			beforeText := formatEntries(t, test.before)
			result, err := Migrate(before, test.migration)
			if err != nil {
				t.Fatal(err)
			}
			if now := formatEntries(t, test.before); now != beforeText {
				t.Errorf("entries of the argument after Migrate() =\n%swant them unchanged\n%s", now, beforeText)
			}
			if result.NoOp() != (test.after == "") {
				t.Errorf("NoOp() = %v, want %v", result.NoOp(), test.after == "")
			}
			want := test.after
			if want == "" {
				want = beforeText
			}
			if got := formatEntries(t, result.Entries); got != want {
				t.Errorf("Entries =\n%swant\n%s", got, want)
			}
			again, err := Migrate(apply.Object{Document: before.Document, Entries: result.Entries}, test.migration)
			if err != nil || !again.NoOp() || formatEntries(t, again.Entries) != want {
				t.Errorf("second Migrate(): error = %v, NoOp() = %v, want true; entries =\n%swant\n%s", err, again.NoOp(), formatEntries(t, again.Entries), want)
			}
		})
	}
}

func TestMigrateReportsMoves(t *testing.T) {
	o := apply.Object{Entries: []apply.Entry{newEntry(t, "ci/Apply", "data.a"), newEntry(t, "old/Update", "data.a", "data.b")}}
	result, err := Migrate(o, Migration{From: []Selector{{Manager: "old"}}, To: "ci"})
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Moves) != 1 {
		t.Fatalf("len(Moves) = %d, want 1", len(result.Moves))
	}
	m := result.Moves[0]
	if m.From.Manager != "old" || m.Fields.String() != ".data.a\n.data.b\n" || m.Gained.String() != ".data.b\n" || !m.Lost.IsEmpty() {
		t.Errorf("Moves[0] = %+v, want From old, Fields data.a and data.b, Gained data.b, no Lost fields", m)
	}
}

// TestMigrateVersions checks that a migration merges field sets of several API versions. The migration of client-go, in
// contrast, drops field sets whose version differs from that of the applier's entry. The fields in these sets then have no
// owner.
func TestMigrateVersions(t *testing.T) {
	entries := []apply.Entry{
		newEntry(t, "ci/Apply@example.com/v2", "spec.size"),
		newEntry(t, "old/Update@example.com/v1", "spec.color", "spec.oldName", "spec.parts", `spec.parts[name="a"].count`, `spec.parts[name="gone"].count`),
	}
	migration := Migration{From: []Selector{{Manager: "old"}}, To: "ci"}
	t.Run("fields that the object does not have at the applier's version are lost", func(t *testing.T) {
		o := readYAML(t, `
apiVersion: example.com/v2
spec: {size: 1, color: red, newName: x, parts: [{name: a, count: 1}]}`)
		o.Entries = entries
		result, err := Migrate(o, migration)
		if err != nil {
			t.Fatal(err)
		}
		want := `ci/Apply@example.com/v2: .spec.color .spec.parts .spec.size .spec.parts[name="a"].count` + "\n"
		if got := formatEntries(t, result.Entries); got != want {
			t.Errorf("Entries =\n%swant\n%s", got, want)
		}
		if got, want := result.Moves[0].Lost.String(), `.spec.oldName`+"\n"+`.spec.parts[name="gone"].count`+"\n"; got != want {
			t.Errorf("Lost =\n%swant\n%s", got, want)
		}
	})
	t.Run("absences that an applier owns are lost, except below metadata", func(t *testing.T) {
		o := readYAML(t, `
apiVersion: example.com/v2
metadata: {labels: {here: x}}
spec: {size: 1}`)
		o.Entries = []apply.Entry{
			newEntry(t, "ci/Apply@example.com/v2", "spec.size"),
			newEntry(t, "old/Apply@example.com/v1", "spec.size", "spec.gone", "metadata.labels.here", "metadata.labels.gone"),
		}
		result, err := Migrate(o, migration)
		if err != nil {
			t.Fatal(err)
		}
		want := "ci/Apply@example.com/v2: .metadata.labels.gone .metadata.labels.here .spec.size\n"
		if got := formatEntries(t, result.Entries); got != want {
			t.Errorf("Entries =\n%swant\n%s", got, want)
		}
		if got := result.Moves[0].Lost.String(); got != ".spec.gone\n" {
			t.Errorf("Lost = %s, want .spec.gone", got)
		}
	})
	t.Run("an owned map is replaced by its fields", func(t *testing.T) {
		o := readYAML(t, `
apiVersion: example.com/v2
spec: {size: 1, whole: {name: a, more: {kind: b}}, container: {of: x}}`)
		o.Entries = []apply.Entry{
			newEntry(t, "ci/Apply@example.com/v2", "spec.size"),
			newEntry(t, "old/Update@example.com/v1", "spec.whole", "spec.container"),
			newEntry(t, "other/Update@example.com/v1", "spec.container.of"),
		}
		result, err := Migrate(o, migration)
		if err != nil {
			t.Fatal(err)
		}
		want := "ci/Apply@example.com/v2: .spec.container .spec.size .spec.whole.name .spec.whole.more.kind\n" +
			"other/Update@example.com/v1: .spec.container.of\n"
		if got := formatEntries(t, result.Entries); got != want {
			t.Errorf("Entries =\n%swant\n%s", got, want)
		}
		if m := result.Moves[0]; m.Gained.String() != ".spec.container\n.spec.whole\n" || !m.Lost.IsEmpty() {
			t.Errorf("Gained = %s, Lost = %s; want spec.container and spec.whole gained, nothing lost", m.Gained, m.Lost)
		}
	})
	t.Run("the object must be at the applier's version", func(t *testing.T) {
		o := readYAML(t, `apiVersion: example.com/v1`)
		o.Entries = entries
		_, err := Migrate(o, migration)
		var other *OtherVersionError
		if !errors.As(err, &other) || other.Entry.Manager != "ci" || other.Entry.APIVersion != "example.com/v2" || other.Received != "example.com/v1" {
			t.Errorf("Migrate() error = %v, want an OtherVersionError for the entry of ci at example.com/v2, received example.com/v1", err)
		}
	})
	t.Run("entries of one version do not depend on the object's version", func(t *testing.T) {
		o := readYAML(t, `apiVersion: example.com/v1`)
		o.Entries = []apply.Entry{newEntry(t, "ci/Apply@example.com/v2", "spec.size"), newEntry(t, "old/Update@example.com/v2", "spec.newName")}
		result, err := Migrate(o, migration)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := formatEntries(t, result.Entries), "ci/Apply@example.com/v2: .spec.newName .spec.size\n"; got != want {
			t.Errorf("Entries =\n%swant\n%s", got, want)
		}
	})
}

func TestMigrateErrors(t *testing.T) {
	bad := apply.Object{Entries: []apply.Entry{{Manager: "a", Operation: apply.Update, APIVersion: "v1", FieldsV1: `{"f:x":1}`}}}
	for _, test := range []struct {
		object    apply.Object
		migration Migration
		want      string
	}{
		{apply.Object{}, Migration{}, "migrate: Migration.To must be set"},
		{apply.Object{}, Migration{To: "ci", From: []Selector{{}}}, "names of the managers that lose their fields, received an empty name"},
		{apply.Object{}, Migration{To: "ci", Subresource: "status"}, `migrate: "ci" by Apply at status: expected a subresource other than status`},
		{apply.Object{}, Migration{To: "ci", Subresource: AnySubresource}, `expected one subresource for manager "ci", received *`},
		{apply.Object{}, Migration{To: "ci", From: []Selector{{Manager: "a", Subresource: "status"}}}, `migrate: "a" at status: expected a subresource other than status`},
		{bad, Migration{To: "ci"}, `.metadata.managedFields[0]: expected a field set of manager "a": `},
	} {
		if _, err := Migrate(test.object, test.migration); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Migrate(%+v) error = %v, want it to contain %s", test.migration, err, test.want)
		}
	}
}

// TestMigrateOracle compares the entries and patches of random migrations with those of client-go's csaupgrade package.
func TestMigrateOracle(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	changed := 0
	for range 2000 {
		o := randomObject(t, random)
		names := randomSubset(random, []string{"kubectl-client-side-apply", "before-first-apply", "a", "b"})
		subresource := []string{"", "", "scale"}[random.IntN(3)]
		migration := Migration{From: []Selector{}, To: "ssa", Subresource: subresource}
		for _, name := range names {
			migration.From = append(migration.From, Selector{name, apply.Update, subresource})
		}
		result, err := Migrate(o, migration)
		if err != nil {
			t.Fatal(err)
		}
		upgraded := toUnstructured(t, o)
		if err := csaupgrade.UpgradeManagedFields(upgraded, sets.New(names...), "ssa", csaupgrade.Subresource(subresource)); err != nil {
			t.Fatal(err)
		}
		want := fromClientGo(t, upgraded.GetManagedFields())
		if !slices.EqualFunc(result.Entries, want, sameEntry) {
			t.Fatalf("Migrate(%+v) of the entries\n%s\n=\n%s\nwant the result of client-go\n%s", migration, formatEntries(t, o.Entries), formatEntries(t, result.Entries), formatEntries(t, want))
		}
		if !result.NoOp() {
			changed++
		}
		comparePatches(t, o, result, names, subresource)
	}
	if changed < 500 {
		t.Errorf("%d of 2000 random migrations changed entries, want at least 500", changed)
	}
}

// comparePatches checks that the patch of this package for result, the result of a migration, leads to the same object as
// client-go's patch for that migration. names are the migrated managers.
func comparePatches(t *testing.T, o apply.Object, result Result, names []string, subresource string) {
	t.Helper()
	clientGoPatch, err := csaupgrade.UpgradeManagedFieldsPatch(toUnstructured(t, o), sets.New(names...), "ssa", csaupgrade.Subresource(subresource))
	if err != nil {
		t.Fatal(err)
	}
	// The reverse is not checked: client-go returns a patch even if only the encoding of a field set changes.
	if clientGoPatch == nil && !result.NoOp() {
		t.Fatalf("Moves = %+v, want none, because client-go returns no patch", result.Moves)
	}
	if result.NoOp() {
		return
	}
	patch, err := Patch(o, result.Entries)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := applyPatch(t, o, patch), applyPatch(t, o, clientGoPatch); got != want {
		t.Fatalf("object after the patch =\n%s\nwant that after client-go's patch\n%s", got, want)
	}
}

// applyPatch applies a JSON patch to an object, sorts the managed fields entries as a server does, and returns the JSON.
func applyPatch(t *testing.T, o apply.Object, patch []byte) string {
	t.Helper()
	doc, err := document.ParseJSON(o.JSON())
	if err != nil {
		t.Fatal(err)
	}
	operations, err := document.ParseJSON(patch)
	if err != nil {
		t.Fatal(err)
	}
	if doc, err = strategic.ApplyJSONPatch(doc, operations); err != nil {
		t.Fatal(err)
	}
	after, err := apply.SplitObject(doc)
	if err != nil {
		t.Fatal(err)
	}
	apply.SortEntries(after.Entries)
	return after.JSON()
}

// sameEntry reports whether two managed fields entries are equal, except that their field sets may be encoded differently.
func sameEntry(a, b apply.Entry) bool {
	x, xErr := a.Fields()
	y, yErr := b.Fields()
	a.FieldsV1, b.FieldsV1 = "", ""
	return a.Time.Equal(b.Time) && xErr == nil && yErr == nil && x.Equal(y) &&
		a.Manager == b.Manager && a.Operation == b.Operation && a.APIVersion == b.APIVersion && a.Subresource == b.Subresource
}

// randomObject returns an object with random managed fields entries. All entries have the same time, because client-go's
// migration gives the merged entry the time of an arbitrary merged one.
func randomObject(t testing.TB, random *rand.Rand) apply.Object {
	o := readYAML(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: x, resourceVersion: "7"}}`)
	seen := map[string]bool{}
	for range random.IntN(6) {
		id := []string{"kubectl-client-side-apply/Update", "before-first-apply/Update", "a/Update", "b/Update", "b/Apply", "ssa/Apply", "ssa/Update"}[random.IntN(7)]
		id += []string{"", "", "/scale", "/status"}[random.IntN(4)]
		if seen[id] {
			continue
		}
		seen[id] = true
		var owned []string
		for range 1 + random.IntN(5) {
			owned = append(owned, fmt.Sprintf("data.k%d", random.IntN(6)), fmt.Sprintf(`list[name="n%d"].x`, random.IntN(3)))
		}
		e := newEntry(t, id, owned[:1+random.IntN(len(owned)-1)]...)
		e.Time = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		o.Entries = append(o.Entries, e)
	}
	apply.SortEntries(o.Entries)
	return o
}

// randomSubset returns a random non-empty subset of the names.
func randomSubset(random *rand.Rand, names []string) []string {
	subset := slices.DeleteFunc(slices.Clone(names), func(string) bool { return random.IntN(2) == 0 })
	if len(subset) == 0 {
		return names[:1]
	}
	return subset
}
