package builtin

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/api/builtin/kinds"
)

// TestEveryKindHasRules checks that all built-in kinds have validation rules, and that the rules agree with the kinds about
// scope and subresources.
func TestEveryKindHasRules(t *testing.T) {
	known := map[string]*block{}
	for typ, b := range ruleset().kinds {
		known[typ.Name] = b
	}
	for _, k := range api.Builtin() {
		group, _, _ := strings.Cut(k.Group, ".")
		if group == "" {
			group = "core"
		}
		for _, version := range k.Versions {
			name := "io.k8s.api." + group + "." + version + "." + k.Name
			b := known[name]
			switch {
			case b == nil:
				t.Errorf("%s: got no validation rules, want at least one", name)
			case b.review != k.CreateOnly && k.Name != "Binding":
				t.Errorf("%s: got review = %v, want %v", name, b.review, k.CreateOnly)
			case !b.review && b.namespaced != k.Namespaced:
				t.Errorf("%s: got namespaced = %v, want %v", name, b.namespaced, k.Namespaced)
			}
			typ, _ := Builtin(name)
			if has := ruleset().subresources["status"][typ] != nil; has != slices.Contains(k.Subresources, "status") {
				t.Errorf("%s: has validation rules for the status = %v, want %v", name, has, !has)
			}
		}
	}
}

// TestRulesNameFields checks that the paths in the validation rules of all kinds lead to fields that exist.
func TestRulesNameFields(t *testing.T) {
	for _, blocks := range append(slices.Collect(maps.Values(ruleset().subresources)), ruleset().kinds) {
		for typ, b := range blocks {
			followFields(t, b.name, typ, b.statements)
		}
	}
}

func followFields(t *testing.T, name string, typ *Type, statements []statement) {
	for _, s := range statements {
		at := typ
		for _, step := range s.path {
			if step.kind != stepField {
				if at != nil {
					at = at.Elem
				}
				continue
			}
			next, _ := fieldType(at, step.name)
			if next == nil {
				t.Errorf("path in the rules of %s: got field %q, want a field of %s", name, step.name, at.Name)
				break
			}
			at = next
		}
		followFields(t, name, typ, s.then)
		followFields(t, name, typ, s.otherwise)
	}
}

func TestInvalidRules(t *testing.T) {
	for text, want := range map[string]string{
		"\ta":                           "types/test.type:3: expected a check",
		"\ta nonsense":                  `types/test.type:3: expected a check or a type, received "nonsense"`,
		"\ta min x":                     "types/test.type:3: min: ",
		"\ta enum":                      "expected the allowed strings",
		"\tif a is\n\t    a required":   `expected at least one argument after "is"`,
		"\tif a set":                    "rules below",
		"\telse\n\t    a required":      "expected if before else",
		"\ta required \"x":              "text in quotes",
		"\t. union x y z:Nothing":       "expected a type after z:",
		"\ta set\n\t        a required": "types/test.type:4: expected a smaller indent",
	} {
		err := newRulebook().readRules(newTypeFile(t, "validation", "\n"+text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("compile rules %q: error = %v, want %q", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"kind Such\n    group: no\n    versions: v1\n":                       "no/such.kind:1: expected a struct no.v1.Such in types.txt.gz",
		"kind Such\n    group: no\ntype A\n    validation:\n    warnings:\n": "no/such.kind:3: expected a type with either validation or warnings",
	} {
		set, err := kinds.Read(fstest.MapFS{"no/such.kind": {Data: []byte(text)}})
		if err == nil {
			err = newRulebook().readRules(set)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("compile kind file %q: error = %v, want %q", text, err, want)
		}
	}
}

// TestDifferenceMaxErrors checks that, unlike in kube-apiserver, the number of errors of one object is limited.
func TestDifferenceMaxErrors(t *testing.T) {
	typ, doc := benchmarkDeployment(t)
	bad := document.NewMap(document.Field{Name: "name", Value: document.NewString("c")})
	containers := document.NewList(slices.Repeat([]document.Value{bad}, 3*maxErrors)...)
	template := doc.Lookup("spec", "template")
	doc = doc.With("spec", doc.Get("spec").With("template", template.With("spec", template.Get("spec").With("containers", containers))))
	if errs := typ.Validate(doc, document.Value{}); len(errs) != maxErrors {
		t.Errorf("Validate() of an object with many errors: got %d errors, want %d", len(errs), maxErrors)
	}
}

// TestManySpreadConstraints checks that the time of validation is not quadratic in the number of topology spread constraints.
func TestManySpreadConstraints(t *testing.T) {
	typ, doc := benchmarkDeployment(t)
	text := &strings.Builder{}
	for i := range 40_000 {
		fmt.Fprintf(text, `,{"maxSkew":1,"topologyKey":"k%d","whenUnsatisfiable":"DoNotSchedule"}`, i)
	}
	spreads, err := document.ParseJSON("[" + text.String()[1:] + strings.Repeat(text.String()[:69], 2) + "]")
	if err != nil {
		t.Fatal(err)
	}
	template := doc.Lookup("spec", "template")
	doc = doc.With("spec", doc.Get("spec").With("template", template.With("spec", template.Get("spec").With("topologySpreadConstraints", spreads))))
	begin := time.Now()
	errs := typ.Validate(doc, document.Value{})
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("Validate() of 40000 topology spread constraints took %v, want at most 10s", took)
	}
	const place = "spec.template.spec.topologySpreadConstraints[%d].{topologyKey, whenUnsatisfiable}"
	if len(errs) != 2 || errs[0].Field != fmt.Sprintf(place, 0) || errs[1].Field != fmt.Sprintf(place, 40_000) {
		t.Errorf("Validate() of repeated topology spread constraints = %v, want errors at indexes 0 and 40000", errs)
	}
}

// TestConcurrentValidate checks that validation is safe for concurrent use; run it with the race detector.
func TestConcurrentValidate(t *testing.T) {
	typ, doc := benchmarkDeployment(t)
	bad := doc.With("metadata", doc.Get("metadata").Without("name"))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				if errs := typ.Validate(doc, doc); len(errs) > 0 {
					t.Errorf("Validate() of a valid object = %v, want none", errs)
				}
				if errs := typ.Validate(bad, document.Value{}); len(errs) != 1 {
					t.Errorf("Validate() of an object without a name = %v, want one error", errs)
				}
			}
		})
	}
	all.Wait()
}

// TestConcurrentValidateOfEveryKind checks that the validation of all kinds, including lazy initialization, is safe for
// concurrent use; run it with the race detector.
func TestConcurrentValidateOfEveryKind(t *testing.T) {
	var cases []verdictCase
	forEachVerdict(t, "verdicts.txt.gz", 101, func(c verdictCase) bool {
		cases = append(cases, c)
		return true
	})
	var all sync.WaitGroup
	for start := range 4 {
		all.Go(func() {
			for i := range cases {
				c := cases[(i+start*len(cases)/4)%len(cases)]
				if _, extra, _ := compareErrors(c.messages, errorTexts(c.t.Validate(c.doc, c.old))); len(extra) > 0 {
					t.Errorf("Validate() for %s of %s with %s: got errors %q, which kube-apiserver does not report, want none of them", c.verb, c.object, c.change, extra)
				}
			}
		})
	}
	all.Wait()
}

// FuzzValidate checks that the validation of arbitrary documents does not panic.
func FuzzValidate(f *testing.F) {
	forEachVerdict(f, "verdicts.txt.gz", 97, func(c verdictCase) bool {
		if c.verb == "update" {
			f.Add(c.doc.JSON(), c.old.JSON())
		}
		return true
	})
	f.Add(`{"spec":[1,{"a":null}],"metadata":"x"}`, `{"spec":{"template":[]}}`)
	f.Add(`{"spec":{"containers":{"a":1},"template":{"spec":{"containers":[1,null,"x"],"volumes":[[]]}}}}`, `{}`)
	f.Add(`[]`, `null`)
	f.Fuzz(func(t *testing.T, value, old string) {
		doc, err := document.ParseJSON([]byte(value))
		if err != nil {
			return
		}
		before, err := document.ParseJSON([]byte(old))
		if err != nil {
			before = document.Value{}
		}
		for typ := range ruleset().kinds {
			for _, e := range slices.Concat(typ.Validate(doc, document.Value{}), typ.Validate(doc, before)) {
				if e.Error() == "" {
					t.Errorf("Validate() of %s: got an error without a message, want a message", value)
				}
			}
		}
	})
}

func benchmarkDeployment(t testing.TB) (typ *Type, doc document.Value) {
	forEachVerdict(t, "verdicts.txt.gz", 1, func(c verdictCase) bool {
		if c.object == "apps.v1.Deployment web" && len(c.messages) == 0 {
			typ, doc = c.t, c.doc
		}
		return typ == nil
	})
	doc, err := document.ParseJSON([]byte(doc.JSON()))
	if err != nil || typ == nil {
		t.Fatalf("verdicts.txt.gz: got no valid Deployment web (error %v), want one", err)
	}
	return typ, doc
}

func BenchmarkValidate(b *testing.B) {
	typ, doc := benchmarkDeployment(b)
	for name, old := range map[string]document.Value{"create": {}, "update": doc} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if errs := typ.Validate(doc, old); len(errs) > 0 {
					b.Fatal(errs)
				}
			}
		})
	}
}

func BenchmarkCompileRules(b *testing.B) {
	set := kinds.Builtin()
	b.ReportAllocs()
	for b.Loop() {
		book := newRulebook()
		if err := book.readRules(set); err != nil {
			b.Fatal(err)
		}
	}
}

// TestValidationStops checks that validation stops after maxErrors errors: it visits no further items, fields of maps and
// statements.
func TestValidationStops(t *testing.T) {
	typ, _ := benchmarkDeployment(t)
	const values = 3 * maxErrors
	field, item, key := step{kind: stepField, name: "values"}, step{kind: stepItem}, step{kind: stepKey}
	fields := make([]document.Field, values)
	for i := range fields {
		fields[i] = document.Field{Name: strconv.Itoa(i), Value: document.NewMap()}
	}
	list := document.NewList(slices.Repeat([]document.Value{document.NewMap()}, values)...)
	for name, test := range map[string]struct {
		values     document.Value
		path       []step
		statements int
	}{
		"items":      {list, []step{field, item}, 1},
		"map fields": {document.NewMap(fields...), []step{field, key}, 1},
		"statements": {list, []step{field}, values},
	} {
		visited := 0
		fails := func(c *checker, _, _ document.Value) bool {
			visited++
			c.invalid(visited, "is invalid")
			return true
		}
		rule := statement{path: test.path, checks: []check{fails}}
		b := &block{statements: slices.Repeat([]statement{rule}, test.statements)}
		doc := document.NewMap(document.Field{Name: "values", Value: test.values})
		if errs := typ.validate(b, doc, document.Value{}); len(errs) != maxErrors || visited != maxErrors {
			t.Errorf("%s: validate() of %d invalid values: got %d errors, and %d values visited, want %d of both", name, values, len(errs), visited, maxErrors)
		}
	}
}

// TestKeptRestartOfInitContainer checks that a pod that was stored with a resize policy which new pods must not have can be updated.
func TestKeptRestartOfInitContainer(t *testing.T) {
	typ, _ := Builtin("io.k8s.api.core.v1.Pod")
	var doc document.Value
	forEachVerdict(t, "verdicts.txt.gz", 1, func(c verdictCase) bool {
		if c.t == typ && c.verb == "create" && len(c.messages) == 0 && c.doc.Lookup("spec", "initContainers").Len() > 0 {
			doc = c.doc
		}
		return doc.IsAbsent()
	})
	policy, err := document.ParseJSON([]byte(`[{"resourceName":"cpu","restartPolicy":"RestartContainer"}]`))
	if err != nil {
		t.Fatal(err)
	}
	spec := doc.Get("spec")
	containers := slices.Collect(func(yield func(document.Value) bool) {
		for _, container := range spec.Get("initContainers").Items() {
			if !yield(container.Without("restartPolicy").Without("livenessProbe").Without("readinessProbe").Without("startupProbe").Without("lifecycle").With("resizePolicy", policy)) {
				return
			}
		}
	})
	kept := doc.With("spec", spec.With("initContainers", document.NewList(containers...)))
	const detail = "must not be set to 'RestartContainer' for non-sidecar initContainers"
	count := func(errs []string) (n int) {
		for _, e := range errs {
			if strings.Contains(e, detail) {
				n++
			}
		}
		return n
	}
	if n := count(errorTexts(typ.Validate(kept, document.Value{}))); n != len(containers) {
		t.Errorf("Validate() of a new pod: got %d errors about RestartContainer, want %d", n, len(containers))
	}
	if n := count(errorTexts(typ.Validate(kept, doc))); n != len(containers) {
		t.Errorf("Validate() of an update that sets RestartContainer: got %d errors about it, want %d", n, len(containers))
	}
	if n := count(errorTexts(typ.Validate(kept, kept))); n != 0 {
		t.Errorf("Validate() of an update that keeps RestartContainer: got %d errors about it, want none", n)
	}
}

// TestPartialHugePages checks that amounts of huge pages that are no multiple of the page size are rejected, except in updates of
// objects that have such amounts already.
func TestPartialHugePages(t *testing.T) {
	typ, _ := Builtin("io.k8s.api.core.v1.PodTemplate")
	template := func(pages, overhead string) document.Value {
		return parseYAML(t, `{apiVersion: v1, kind: PodTemplate, metadata: {name: a, namespace: b, resourceVersion: "1"}, template: {metadata: {}, spec: {restartPolicy: Always, `+
			`dnsPolicy: ClusterFirst, terminationGracePeriodSeconds: 1, overhead: {`+overhead+`}, containers: [{name: c, image: i, imagePullPolicy: Always, `+
			`terminationMessagePolicy: File, resources: {limits: {cpu: "1", hugepages-2Mi: `+pages+`}, requests: {hugepages-2Mi: `+pages+`}}}]}}}`)
	}
	partial := func(errs field.ErrorList) int {
		return strings.Count(strings.Join(errorTexts(errs), "\n"), "is not positive integer multiple of")
	}
	for _, test := range []struct {
		now, old document.Value
		want     int
	}{
		{template("4Mi", ""), document.Value{}, 0},
		{template("3Mi", ""), document.Value{}, 2},
		{template("3Mi", ""), template("4Mi", ""), 2},
		{template("3Mi", ""), template("5Mi", ""), 0},
		{template("3Mi", ""), template("4Mi", "hugepages-2Mi: 3Mi"), 0},
	} {
		if got := partial(typ.Validate(test.now, test.old)); got != test.want {
			t.Errorf("update of %s to %s: got %d errors, want %d: %v", test.old, test.now, got, test.want, typ.Validate(test.now, test.old))
		}
	}
}

// TestInvalidDeletionCost checks that an invalid deletion cost of a pod is rejected, except in updates of pods whose deletion cost was
// invalid already.
func TestInvalidDeletionCost(t *testing.T) {
	typ, _ := Builtin("io.k8s.api.core.v1.Pod")
	pod := func(cost string) document.Value {
		return parseYAML(t, `{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: b, resourceVersion: "1", annotations: {`+
			`controller.kubernetes.io/pod-deletion-cost: "`+cost+`"}}, spec: {containers: [{name: c, image: i}]}, status: {}}`)
	}
	for _, test := range []struct {
		now, old document.Value
		want     bool
	}{
		{pod("1"), document.Value{}, false},
		{pod("x"), document.Value{}, true},
		{pod("x"), pod("1"), true},
		{pod("x"), pod("y"), false},
	} {
		errs := typ.Validate(test.now, test.old)
		if !test.old.IsAbsent() {
			errs = append(errs, typ.ValidateSubresource("status", test.now, test.old)...)
		}
		if got := strings.Contains(strings.Join(errorTexts(errs), "\n"), "must be a 32bit integer"); got != test.want {
			t.Errorf("update of %s to %s: rejected: %t, want %t: %v", test.old, test.now, got, test.want, errs)
		}
	}
}
