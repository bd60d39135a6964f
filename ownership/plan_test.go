package ownership

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/apply"
)

// applyAll plays what several managers apply to a Deployment, and returns the object after each.
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
		fmt.Fprintf(&b, "%s stays %s, %s\n", s.Path, s.Value, describeManagers(s.Owners))
	}
	return b.String()
}

func TestCompare(t *testing.T) {
	for _, test := range []struct {
		name           string
		configurations [][2]string // the last one is what is compared, by its manager
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
.spec.paused stays true, "ops" by Apply
`,
		},
		{
			"a map that another one has fields in",
			[][2]string{{"ci", "{replicas: 1, template: {metadata: {labels: {}}}}"}, {"ops", "{template: {metadata: {labels: {a: b}}}}"}, {"ci", "{replicas: 1}"}},
			`
released .spec.template.metadata.labels
.spec.template.metadata.labels stays {"a":"b"}, "ops" by Apply
`,
		},
		{
			"an item that another one needs", [][2]string{
				{"ci", "{template: {spec: {containers: [{name: a, image: x}]}}}"},
				{"ops", "{template: {spec: {containers: [{name: a, tty: true}]}}}"},
				{"ci", "{replicas: 1}"},
			},
			`
added .spec.replicas
removed .spec.template.spec.containers[name="a"].image
gained .spec.replicas
released .spec.template.spec.containers[name="a"] .spec.template.spec.containers[name="a"].image .spec.template.spec.containers[name="a"].name
.spec.template.spec.containers[name="a"].name stays "a", "ops" by Apply
`,
		},
		{
			"an item", [][2]string{
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
			who := Selector{Manager: test.configurations[len(test.configurations)-1][0]}
			plan, err := Compare(before, after, who, builtinType(t, after))
			if err != nil {
				t.Fatal(err)
			}
			if got := "\n" + formatPlan(plan); got != test.want {
				t.Errorf("received%swant%s", got, test.want)
			}
			if plan.IsEmpty() != (test.want == "\n") {
				t.Errorf("empty: %v", plan.IsEmpty())
			}
		})
	}
}

// TestCompareTakeOver has a manager get what client-side apply wrote, and leave some of it out: what is there nevertheless
// stays, whether somebody else owns it or nobody does.
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
	_, stays, _ := strings.Cut(formatPlan(plan), ".spec.shared\n")
	if want := ".spec.default stays 2, no managers\n.spec.shared stays 3, \"ops\" by Apply\n"; stays != want {
		t.Errorf("received\n%swant\n%s", formatPlan(plan), want)
	}
}

// TestCompareOtherVersion has a manager own the same by longer and by shorter paths, as another version has it: that it
// does not give up.
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
		t.Errorf("received\n%s", formatPlan(plan))
	}
}

// TestCompareCostIsLinear: who owns what stays is read once, and not for each field.
func TestCompareCostIsLinear(t *testing.T) {
	cost := func(n int) uint64 {
		var fields, owned strings.Builder
		for i := range n {
			fmt.Fprintf(&fields, "k%d: x, ", i)
			fmt.Fprintf(&owned, `,"f:k%d":{}`, i)
		}
		before := readYAML(t, "{apiVersion: v1, data: {"+fields.String()+"}}")
		all := `{"f:data":{` + owned.String()[1:] + `}}`
		mine, theirs := apply.Entry{Manager: "me", Operation: apply.Apply, APIVersion: "v1", FieldsV1: all}, apply.Entry{Manager: "you", Operation: apply.Apply, APIVersion: "v1", FieldsV1: all}
		before.Entries = []apply.Entry{mine, theirs}
		after := apply.Object{Document: before.Document, Entries: []apply.Entry{theirs}}
		compare := func() Plan {
			p, err := Compare(before, after, Selector{Manager: "me"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		if p := compare(); len(p.Kept) != n {
			t.Fatalf("expected %d fields to stay, received %d", n, len(p.Kept))
		}
		var start, end runtime.MemStats
		runtime.ReadMemStats(&start)
		compare()
		runtime.ReadMemStats(&end)
		return end.TotalAlloc - start.TotalAlloc
	}
	if few, many := cost(500), cost(2000); many > 8*few {
		t.Errorf("500 fields take %d bytes, and 2,000 take %d", few, many)
	}
}

func TestExtract(t *testing.T) {
	o := deployment(t)
	for _, test := range []struct {
		who  Selector
		want string
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
		got, err := Extract(o, test.who, builtinType(t, o))
		if want := readYAML(t, test.want).Document; err != nil || got.JSON() != want.JSON() {
			t.Errorf("%s: received\n%s, %v; want\n%s", test.who, got.YAML(), err, want.YAML())
		}
	}
	config, err := Extract(o, Selector{Manager: "ci"}, builtinType(t, o))
	if err != nil || !strings.Contains(config.YAML(), "minReadySeconds:\n    k8s_io__value: unset\n") {
		t.Errorf("what is owned and absent is not unset: %v\n%s", err, config.YAML())
	}
}

// TestExtractPrefersApply has a manager that writes both ways.
func TestExtractPrefersApply(t *testing.T) {
	o := readYAML(t, "{apiVersion: apps/v1, kind: Deployment, spec: {replicas: 1, paused: true}}")
	o.Entries = []apply.Entry{newEntry(t, "ci/Update@apps/v1", "spec.paused"), newEntry(t, "ci/Apply@apps/v1", "spec.replicas")}
	for who, want := range map[Selector]string{
		{Manager: "ci"}: `{"replicas":1}`, {Manager: "ci", Operation: apply.Update}: `{"paused":true}`,
	} {
		if got, err := Extract(o, who, builtinType(t, o)); err != nil || got.Get("spec").JSON() != want {
			t.Errorf("%s: received %s, %v; want %s", who, got, err, want)
		}
	}
}

func TestExtractErrors(t *testing.T) {
	o := deployment(t)
	kind := builtinType(t, o)
	if _, err := Extract(apply.Object{Document: o.Document}, Selector{Manager: "ci"}, kind); !errors.Is(err, apply.ErrNoManagedFields) {
		t.Errorf("no entries: %v", err)
	}
	want := `"nobody" owns nothing in this object; its managers are "ci" by Apply, "sidecars" by Apply, "kubectl-edit" by Update, "controller" by Update at status`
	if _, err := Extract(o, Selector{Manager: "nobody"}, kind); err == nil || err.Error() != want {
		t.Errorf("nobody: %v", err)
	}
	o.Entries = append(o.Entries, newEntry(t, "old/Apply@apps/v1beta1", "spec.replicas"))
	var other *OtherVersionError
	if _, err := Extract(o, Selector{Manager: "old"}, kind); !errors.As(err, &other) || !strings.Contains(err.Error(), "apps/v1beta1") {
		t.Errorf("another version: %v", err)
	}
}
