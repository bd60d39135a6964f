package ownership

import (
	"testing"

	"github.com/cadastre/cadastre/apply"
)

func TestTakeOver(t *testing.T) {
	const annotation = `.metadata.annotations."kubectl.kubernetes.io/last-applied-configuration"`
	entryWithAnnotation := func(id string) apply.Entry { return newEntry(t, id, ".data.a", annotation) }
	for _, test := range []struct {
		name    string
		entries []apply.Entry
		applier string
		want    []apply.Entry
	}{
		{
			"kubectl preserves the annotation", []apply.Entry{entryWithAnnotation("kubectl-client-side-apply/Update")}, KubectlManager,
			[]apply.Entry{entryWithAnnotation("kubectl/Apply"), newEntry(t, "kubectl-last-applied/Apply", annotation)},
		},
		{
			"entries are sorted as in Kubernetes", []apply.Entry{newEntry(t, "hpa/Update", ".data.b"), entryWithAnnotation("kubectl-client-side-apply/Update")}, KubectlManager,
			[]apply.Entry{entryWithAnnotation("kubectl/Apply"), newEntry(t, "kubectl-last-applied/Apply", annotation), newEntry(t, "hpa/Update", ".data.b")},
		},
		{
			"other appliers do not preserve the annotation", []apply.Entry{entryWithAnnotation("kubectl-client-side-apply/Update")}, "ci",
			[]apply.Entry{entryWithAnnotation("ci/Apply")},
		},
		{
			"client-side apply with another manager name", []apply.Entry{entryWithAnnotation("deploy-script/Update")}, KubectlManager,
			[]apply.Entry{entryWithAnnotation("kubectl/Apply"), newEntry(t, "kubectl-last-applied/Apply", annotation)},
		},
		{
			"manager without annotation", []apply.Entry{newEntry(t, "editor/Update", ".data.a")}, KubectlManager,
			[]apply.Entry{newEntry(t, "editor/Update", ".data.a")},
		},
		{
			"another applier owns the annotation", []apply.Entry{entryWithAnnotation("ops/Apply"), entryWithAnnotation("kubectl-client-side-apply/Update")}, KubectlManager,
			[]apply.Entry{entryWithAnnotation("kubectl/Apply"), entryWithAnnotation("ops/Apply")},
		},
		{
			"before-first-apply with annotation", []apply.Entry{entryWithAnnotation("before-first-apply/Update")}, "ci",
			[]apply.Entry{entryWithAnnotation("ci/Apply")},
		},
		{
			"before-first-apply without annotation", []apply.Entry{newEntry(t, "before-first-apply/Update", ".data.a")}, KubectlManager,
			[]apply.Entry{newEntry(t, "before-first-apply/Update", ".data.a")},
		},
		{
			"subresource", []apply.Entry{entryWithAnnotation("odd/Update/scale")}, KubectlManager,
			[]apply.Entry{entryWithAnnotation("odd/Update/scale")},
		},
		{
			"main resource without and subresource with annotation",
			[]apply.Entry{newEntry(t, "odd/Update", ".data.a"), entryWithAnnotation("odd/Update/scale")}, KubectlManager,
			[]apply.Entry{newEntry(t, "odd/Update", ".data.a"), entryWithAnnotation("odd/Update/scale")},
		},
		{
			"default manager without annotation", []apply.Entry{newEntry(t, "kubectl-client-side-apply/Update", ".data.a")}, KubectlManager,
			[]apply.Entry{newEntry(t, "kubectl/Apply", ".data.a")},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := readYAML(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: test, annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}"}}, data: {a: "1"}}`)
			o.Entries = test.entries
			result, err := TakeOver(o, test.applier)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := formatEntries(t, result.Entries), formatEntries(t, test.want); got != want {
				t.Errorf("Entries =\n%s\nwant\n%s", got, want)
			}
			o.Entries = result.Entries
			if again, err := TakeOver(o, test.applier); err != nil || !again.NoOp() {
				t.Errorf("second TakeOver(): Moves = %v, error = %v; want no moves", again.Moves, err)
			}
		})
	}
}

// TestMigrateKeepLastApplied checks that KeepLastApplied adds an entry of LastAppliedManager, unless another Apply entry
// still owns the last-applied annotation or LastAppliedManager itself releases it.
func TestMigrateKeepLastApplied(t *testing.T) {
	const annotation = `.metadata.annotations."kubectl.kubernetes.io/last-applied-configuration"`
	entryWithAnnotation := func(id string) apply.Entry { return newEntry(t, id, ".data.a", annotation) }
	m := Migration{From: []Selector{{Manager: "ci"}, {Manager: LastAppliedManager}}, To: KubectlManager, KeepLastApplied: true}
	for name, test := range map[string]struct{ entries, want []apply.Entry }{
		"only owner releases": {
			[]apply.Entry{entryWithAnnotation("ci/Apply")},
			[]apply.Entry{entryWithAnnotation("kubectl/Apply"), newEntry(t, "kubectl-last-applied/Apply", annotation)},
		},
		"LastAppliedManager releases": {
			[]apply.Entry{newEntry(t, "kubectl/Apply", ".data.a"), newEntry(t, "kubectl-last-applied/Apply", annotation)},
			[]apply.Entry{entryWithAnnotation("kubectl/Apply")},
		},
		"one of two owners releases": {
			[]apply.Entry{entryWithAnnotation("ci/Apply"), entryWithAnnotation("ops/Apply")},
			[]apply.Entry{entryWithAnnotation("kubectl/Apply"), entryWithAnnotation("ops/Apply")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := readYAML(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: test, annotations: {`+LastAppliedAnnotation+`: "{}"}}, data: {a: b}}`)
			o.Entries = test.entries
			result, err := Migrate(o, m)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := formatEntries(t, result.Entries), formatEntries(t, test.want); got != want {
				t.Errorf("Entries =\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestTakeOverInvalidEntry(t *testing.T) {
	o := readYAML(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: test}}`)
	o.Entries = []apply.Entry{{Manager: "kubectl-client-side-apply", Operation: apply.Update, APIVersion: "v1", FieldsV1: "{"}}
	if _, err := TakeOver(o, KubectlManager); err == nil {
		t.Error("TakeOver() with an invalid field set: error = nil, want one")
	}
}
