package ownership

import (
	"testing"

	"github.com/cadastre/cadastre/apply"
)

func TestTakeOver(t *testing.T) {
	const annotation = `.metadata.annotations."kubectl.kubernetes.io/last-applied-configuration"`
	wrote := func(who string) apply.Entry { return newEntry(t, who, ".data.a", annotation) }
	for _, test := range []struct {
		name    string
		entries []apply.Entry
		applier string
		want    []apply.Entry
	}{
		{
			"kubectl keeps the annotation", []apply.Entry{wrote("kubectl-client-side-apply/Update")}, KubectlManager,
			[]apply.Entry{wrote("kubectl/Apply"), newEntry(t, "kubectl-last-applied/Apply", annotation)},
		},
		{
			"beside others, in Kubernetes' order", []apply.Entry{newEntry(t, "hpa/Update", ".data.b"), wrote("kubectl-client-side-apply/Update")}, KubectlManager,
			[]apply.Entry{wrote("kubectl/Apply"), newEntry(t, "kubectl-last-applied/Apply", annotation), newEntry(t, "hpa/Update", ".data.b")},
		},
		{
			"others do not, as nobody keeps it up to date", []apply.Entry{wrote("kubectl-client-side-apply/Update")}, "ci",
			[]apply.Entry{wrote("ci/Apply")},
		},
		{
			"by any name", []apply.Entry{wrote("deploy-script/Update")}, KubectlManager,
			[]apply.Entry{wrote("kubectl/Apply"), newEntry(t, "kubectl-last-applied/Apply", annotation)},
		},
		{
			"who owns no annotation did not apply", []apply.Entry{newEntry(t, "editor/Update", ".data.a")}, KubectlManager,
			[]apply.Entry{newEntry(t, "editor/Update", ".data.a")},
		},
		{
			"an applier owns it", []apply.Entry{wrote("ops/Apply"), wrote("kubectl-client-side-apply/Update")}, KubectlManager,
			[]apply.Entry{wrote("kubectl/Apply"), wrote("ops/Apply")},
		},
		{
			"before there were managers", []apply.Entry{wrote("before-first-apply/Update")}, "ci",
			[]apply.Entry{wrote("ci/Apply")},
		},
		{
			"before there were managers, by who knows", []apply.Entry{newEntry(t, "before-first-apply/Update", ".data.a")}, KubectlManager,
			[]apply.Entry{newEntry(t, "before-first-apply/Update", ".data.a")},
		},
		{
			"at another endpoint", []apply.Entry{wrote("odd/Update/scale")}, KubectlManager,
			[]apply.Entry{wrote("odd/Update/scale")},
		},
		{
			"at another endpoint, which says nothing about the main one",
			[]apply.Entry{newEntry(t, "odd/Update", ".data.a"), wrote("odd/Update/scale")}, KubectlManager,
			[]apply.Entry{newEntry(t, "odd/Update", ".data.a"), wrote("odd/Update/scale")},
		},
		{
			"without an annotation", []apply.Entry{newEntry(t, "kubectl-client-side-apply/Update", ".data.a")}, KubectlManager,
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
				t.Errorf("received\n%s\nwant\n%s", got, want)
			}
			o.Entries = result.Entries
			if again, err := TakeOver(o, test.applier); err != nil || !again.NoOp() {
				t.Errorf("again: %v, %v", again.Moves, err)
			}
		})
	}
}

// TestMigrateKeepLastApplied: an applier that gives the annotation up does not keep it; one that does not give it up does.
func TestMigrateKeepLastApplied(t *testing.T) {
	const annotation = `.metadata.annotations."kubectl.kubernetes.io/last-applied-configuration"`
	wrote := func(who string) apply.Entry { return newEntry(t, who, ".data.a", annotation) }
	m := Migration{From: []Selector{{Manager: "ci"}, {Manager: LastAppliedManager}}, To: KubectlManager, KeepLastApplied: true}
	for name, test := range map[string]struct{ entries, want []apply.Entry }{
		"the only one": {
			[]apply.Entry{wrote("ci/Apply")},
			[]apply.Entry{wrote("kubectl/Apply"), newEntry(t, "kubectl-last-applied/Apply", annotation)},
		},
		"the one that did": {
			[]apply.Entry{newEntry(t, "kubectl/Apply", ".data.a"), newEntry(t, "kubectl-last-applied/Apply", annotation)},
			[]apply.Entry{wrote("kubectl/Apply")},
		},
		"one of two": {
			[]apply.Entry{wrote("ci/Apply"), wrote("ops/Apply")},
			[]apply.Entry{wrote("kubectl/Apply"), wrote("ops/Apply")},
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
				t.Errorf("received\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestTakeOverInvalidEntry(t *testing.T) {
	o := readYAML(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: test}}`)
	o.Entries = []apply.Entry{{Manager: "kubectl-client-side-apply", Operation: apply.Update, APIVersion: "v1", FieldsV1: "{"}}
	if _, err := TakeOver(o, KubectlManager); err == nil {
		t.Error("fields that can't be read were taken over")
	}
}
