package ownership

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/apply"
)

// applyAll applies configurations, each a pair of field manager and spec, to a Deployment, in order and with force. It
// returns the objects after each apply.
func applyAll(t *testing.T, configurations ...[2]string) []apply.Object {
	t.Helper()
	live := apply.Object{}
	kind := builtinType(t, readYAML(t, "{apiVersion: apps/v1, kind: Deployment}"))
	engine, err := apply.New(apply.Options{Versions: apply.OneVersion("apps/v1", kind), Unset: true})
	if err != nil {
		t.Fatal(err)
	}
	var all []apply.Object
	for _, c := range configurations {
		config := readYAML(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: "+c[1]+"}")
		result, err := engine.Apply(live, config.Document, apply.Request{Manager: c[0], Version: "apps/v1", Force: true})
		if err != nil {
			t.Fatal(err)
		}
		live = result.Object
		all = append(all, live)
	}
	return all
}

// formatPlan formats a plan as lines: one for each non-empty field set, lost entry and kept field.
func formatPlan(p Plan) string {
	var b strings.Builder
	for _, part := range []struct {
		name string
		text string
	}{
		{"added", p.Changes.Added.String()}, {"modified", p.Changes.Modified.String()}, {"removed", p.Changes.Removed.String()},
		{"gained", p.Gained.String()}, {"shared", p.Shared.String()}, {"released", p.Released.String()},
	} {
		if part.text != "" {
			fmt.Fprintf(&b, "%s %s\n", part.name, strings.Join(strings.Fields(part.text), " "))
		}
	}
	for _, m := range p.Lost {
		fmt.Fprintf(&b, "%s lost %s\n", m.From.Manager, strings.Join(strings.Fields(m.Fields.String()), " "))
	}
	for _, s := range p.Kept {
		fmt.Fprintf(&b, "%s keeps %s, owned by %s\n", s.Path, s.Value, describeManagers(s.Owners))
	}
	return b.String()
}

func TestCompare(t *testing.T) {
	for _, test := range []struct {
		name           string
		configurations [][2]string // pairs of field manager and spec; the test compares the objects before and after the last apply
		want           string
	}{
		{"create", [][2]string{{"ci", "{replicas: 1}"}}, `
added .spec .spec.replicas
gained .spec.replicas
`},
		{"nothing", [][2]string{{"ci", "{replicas: 1}"}, {"ci", "{replicas: 1}"}}, "\n"},
		{"change", [][2]string{{"ci", "{replicas: 1}"}, {"ci", "{replicas: 2}"}}, `
modified .spec.replicas
`},
		{"take over", [][2]string{{"ci", "{replicas: 1}"}, {"ops", "{replicas: 2}"}}, `
modified .spec.replicas
gained .spec.replicas
ci lost .spec.replicas
`},
		{"share", [][2]string{{"ci", "{replicas: 1}"}, {"ops", "{replicas: 1, paused: true}"}}, `
added .spec.paused
gained .spec.paused
shared .spec.replicas
`},
		{"remove", [][2]string{{"ci", "{replicas: 1, paused: true}"}, {"ci", "{replicas: 1}"}}, `
removed .spec.paused
released .spec.paused
`},
		{
			"present, owned by another",
			[][2]string{{"ci", "{replicas: 1, paused: true}"}, {"ops", "{paused: true}"}, {"ci", "{replicas: 1}"}},
			`
released .spec.paused
.spec.paused keeps true, owned by "ops" by Apply
`,
		},
		{
			"released map with fields of another manager",
			[][2]string{{"ci", "{replicas: 1, template: {metadata: {labels: {}}}}"}, {"ops", "{template: {metadata: {labels: {a: b}}}}"}, {"ci", "{replicas: 1}"}},
			`
released .spec.template.metadata.labels
.spec.template.metadata.labels keeps {"a":"b"}, owned by "ops" by Apply
`,
		},
		{
			"released item with fields of another manager", [][2]string{
				{"ci", "{template: {spec: {containers: [{name: a, image: x}]}}}"},
				{"ops", "{template: {spec: {containers: [{name: a, tty: true}]}}}"},
				{"ci", "{replicas: 1}"},
			},
			`
added .spec.replicas
removed .spec.template.spec.containers[name="a"].image
gained .spec.replicas
released .spec.template.spec.containers[name="a"] .spec.template.spec.containers[name="a"].image .spec.template.spec.containers[name="a"].name
.spec.template.spec.containers[name="a"].name keeps "a", owned by "ops" by Apply
`,
		},
		{
			"released item", [][2]string{
				{"ci", "{template: {spec: {containers: [{name: a, image: x}, {name: b, image: x}]}}}"},
				{"ci", "{template: {spec: {containers: [{name: a, image: z}]}}}"},
			},
			`
modified .spec.template.spec.containers[name="a"].image
removed .spec.template.spec.containers[name="b"] .spec.template.spec.containers[name="b"].image .spec.template.spec.containers[name="b"].name
released .spec.template.spec.containers[name="b"] .spec.template.spec.containers[name="b"].image .spec.template.spec.containers[name="b"].name
`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			states := append([]apply.Object{{}}, applyAll(t, test.configurations...)...)
			before, after := states[len(states)-2], states[len(states)-1]
			manager := Selector{Manager: test.configurations[len(test.configurations)-1][0]}
			plan, err := Compare(before, after, manager, builtinType(t, after))
			if err != nil {
				t.Fatal(err)
			}
			if got := "\n" + formatPlan(plan); got != test.want {
				t.Errorf("Compare() =%swant%s", got, test.want)
			}
			if plan.IsEmpty() != (test.want == "\n") {
				t.Errorf("IsEmpty() = %v, want %v", plan.IsEmpty(), test.want == "\n")
			}
		})
	}
}

// TestCompareTakeOver checks the plan of an apply that takes over the fields of client-side apply, where the configuration
// does not contain all of them. The remaining fields of client-side apply stay in the object and are in Kept, with or
// without another owner.
func TestCompareTakeOver(t *testing.T) {
	annotation := `metadata.annotations."` + LastAppliedAnnotation + `"`
	before := readYAML(t, `{apiVersion: v1, metadata: {annotations: {`+LastAppliedAnnotation+`: x}}, spec: {a: 1, default: 2, shared: 3, gone: 4}}`)
	before.Entries = []apply.Entry{
		newEntry(t, "kubectl-client-side-apply/Update", "metadata.annotations", annotation, "spec", "spec.a", "spec.default", "spec.gone", "spec.shared"),
		newEntry(t, "ops/Apply", "spec.shared"),
	}
	after := readYAML(t, `{apiVersion: v1, metadata: {annotations: {`+LastAppliedAnnotation+`: x}}, spec: {a: 1, default: 2, shared: 3}}`)
	after.Entries = []apply.Entry{
		newEntry(t, "kubectl/Apply", "spec.a"), newEntry(t, "kubectl-last-applied/Apply", annotation), newEntry(t, "ops/Apply", "spec.shared"),
	}
	plan, err := Compare(before, after, Selector{Manager: "kubectl"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, kept, _ := strings.Cut(formatPlan(plan), ".spec.shared\n")
	if want := ".spec.default keeps 2, owned by no managers\n.spec.shared keeps 3, owned by \"ops\" by Apply\n"; kept != want {
		t.Errorf("Compare() =\n%swant it to end with\n%s", formatPlan(plan), want)
	}
}

// TestCompareOtherVersion checks that a released field is not in Kept if the manager owns it by a longer or shorter path at
// the API version of the write.
func TestCompareOtherVersion(t *testing.T) {
	before := readYAML(t, `{apiVersion: v2, spec: {whole: {x: 1}, parts: {y: 2}, given: {z: 3}}}`)
	before.Entries = []apply.Entry{newEntry(t, "ci/Apply@v1", "spec.whole", "spec.parts.y", "spec.given.z")}
	after := before
	after.Entries = []apply.Entry{newEntry(t, "ci/Apply@v2", "spec.whole.x", "spec.parts")}
	plan, err := Compare(before, after, Selector{Manager: "ci"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Kept) != 1 || plan.Kept[0].Path.String() != ".spec.given.z" || len(plan.Kept[0].Owners) != 0 {
		t.Errorf("Compare() =\n%swant only spec.given.z kept, without owners", formatPlan(plan))
	}
}

// TestCompareCostIsLinear checks that the allocated bytes of Compare grow linearly with the number of fields. They grow
// linearly only if Compare decodes each field set once instead of once per kept field.
func TestCompareCostIsLinear(t *testing.T) {
	cost := func(n int) uint64 {
		var fields, owned strings.Builder
		for i := range n {
			fmt.Fprintf(&fields, "k%d: x, ", i)
			fmt.Fprintf(&owned, `,"f:k%d":{}`, i)
		}
		before := readYAML(t, "{apiVersion: v1, data: {"+fields.String()+"}}")
		all := `{"f:data":{` + owned.String()[1:] + `}}`
		first, second := apply.Entry{Manager: "alice", Operation: apply.Apply, APIVersion: "v1", FieldsV1: all}, apply.Entry{Manager: "bob", Operation: apply.Apply, APIVersion: "v1", FieldsV1: all}
		before.Entries = []apply.Entry{first, second}
		after := apply.Object{Document: before.Document, Entries: []apply.Entry{second}}
		compare := func() Plan {
			p, err := Compare(before, after, Selector{Manager: "alice"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		if p := compare(); len(p.Kept) != n {
			t.Fatalf("len(Kept) = %d, want %d", len(p.Kept), n)
		}
		var start, end runtime.MemStats
		runtime.ReadMemStats(&start)
		compare()
		runtime.ReadMemStats(&end)
		return end.TotalAlloc - start.TotalAlloc
	}
	if few, many := cost(500), cost(2000); many > 8*few {
		t.Errorf("Compare() allocates %d bytes for 500 fields and %d bytes for 2000 fields; want at most 8 times as many bytes", few, many)
	}
}

func TestExtract(t *testing.T) {
	o := deployment(t)
	for _, test := range []struct {
		manager Selector
		want    string
	}{
		{Selector{Manager: "sidecars"}, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default, finalizers: [example.com/a, example.com/b]}
spec:
  replicas: 2
  template: {spec: {containers: [{name: app}, {name: proxy, image: envoy}]}}`},
		{Selector{Manager: "kubectl-edit"}, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default, labels: {team: blue}}`},
		{Selector{Manager: "controller", Subresource: "status"}, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
status: {replicas: 2}`},
	} {
		got, err := Extract(o, test.manager, builtinType(t, o))
		if want := readYAML(t, test.want).Document; err != nil || got.JSON() != want.JSON() {
			t.Errorf("Extract(%s) =\n%s, %v; want\n%s", test.manager, got.YAML(), err, want.YAML())
		}
	}
	config, err := Extract(o, Selector{Manager: "ci"}, builtinType(t, o))
	if err != nil || !strings.Contains(config.YAML(), "minReadySeconds:\n    k8s_io__value: unset\n") {
		t.Errorf("Extract(ci): error = %v, want an unset marker for minReadySeconds, which is owned and absent; got\n%s", err, config.YAML())
	}
}

// TestExtractPrefersApply checks that, if a field manager has both an Apply and an Update entry, the Apply entry is
// extracted unless the selector names the operation Update.
func TestExtractPrefersApply(t *testing.T) {
	o := readYAML(t, "{apiVersion: apps/v1, kind: Deployment, spec: {replicas: 1, paused: true}}")
	o.Entries = []apply.Entry{newEntry(t, "ci/Update@apps/v1", "spec.paused"), newEntry(t, "ci/Apply@apps/v1", "spec.replicas")}
	for manager, want := range map[Selector]string{
		{Manager: "ci"}: `{"replicas":1}`, {Manager: "ci", Operation: apply.Update}: `{"paused":true}`,
	} {
		if got, err := Extract(o, manager, builtinType(t, o)); err != nil || got.Get("spec").JSON() != want {
			t.Errorf("Extract(%s) = %s, %v; want %s", manager, got, err, want)
		}
	}
}

func TestExtractErrors(t *testing.T) {
	o := deployment(t)
	kind := builtinType(t, o)
	if _, err := Extract(apply.Object{Document: o.Document}, Selector{Manager: "ci"}, kind); !errors.Is(err, apply.ErrNoManagedFields) {
		t.Errorf("Extract() without managed fields entries: error = %v, want ErrNoManagedFields", err)
	}
	want := `"unknown" owns no field of this object; its managers are "ci" by Apply, "sidecars" by Apply, "kubectl-edit" by Update, "controller" by Update at status`
	if _, err := Extract(o, Selector{Manager: "unknown"}, kind); err == nil || err.Error() != want {
		t.Errorf("Extract(unknown) error = %v, want %s", err, want)
	}
	o.Entries = append(o.Entries, newEntry(t, "old/Apply@apps/v1beta1", "spec.replicas"))
	var other *OtherVersionError
	if _, err := Extract(o, Selector{Manager: "old"}, kind); !errors.As(err, &other) || !strings.Contains(err.Error(), "apps/v1beta1") {
		t.Errorf("Extract() at another version: error = %v, want an OtherVersionError that names apps/v1beta1", err)
	}
}
