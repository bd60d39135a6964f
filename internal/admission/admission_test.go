package admission

import (
	"context"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/cache/cachetest"
	"github.com/cadastre/cadastre/internal/objects"
	"github.com/cadastre/cadastre/internal/store"
)

// open returns a cache that has some classes of priority, each as JSON without its name.
func open(t *testing.T, classes map[string]string) *cache.Cache {
	t.Helper()
	c := cachetest.Open(t)
	for name, rest := range classes {
		key := cache.Key{Kind: PriorityClasses, Name: name}
		value := `{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"` + name + `"},` + rest + `}`
		if _, _, err := c.Commit(t.Context(), store.Write{Key: key.String(), Value: []byte(value)}); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func parse(t *testing.T, text string) document.Value {
	t.Helper()
	v, err := document.ParseJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// pod returns one with a spec.
func pod(t *testing.T, spec string) document.Value {
	t.Helper()
	return parse(t, `{"metadata":{"name":"p"},"spec":`+spec+`}`)
}

const (
	notReady    = `{"effect":"NoExecute","key":"node.kubernetes.io/not-ready","operator":"Exists","tolerationSeconds":300}`
	unreachable = `{"effect":"NoExecute","key":"node.kubernetes.io/unreachable","operator":"Exists","tolerationSeconds":300}`
	unimportant = `"preemptionPolicy":"PreemptLowerPriority","priority":0`
)

// TestTolerations: pods bear a node in trouble for a while, unless they say how long, or whether.
func TestTolerations(t *testing.T) {
	for has, want := range map[string]string{
		``:                      notReady + `,` + unreachable,
		`{"operator":"Exists"}`: `{"operator":"Exists"}`,
		`{"effect":"NoExecute","operator":"Exists"}`:                                            `{"effect":"NoExecute","operator":"Exists"}`,
		`{"effect":"NoSchedule","operator":"Exists"}`:                                           `{"effect":"NoSchedule","operator":"Exists"},` + notReady + `,` + unreachable,
		`{"key":"node.kubernetes.io/not-ready","operator":"Exists"}`:                            `{"key":"node.kubernetes.io/not-ready","operator":"Exists"},` + unreachable,
		`{"effect":"NoExecute","key":"node.kubernetes.io/unreachable","tolerationSeconds":1}`:   `{"effect":"NoExecute","key":"node.kubernetes.io/unreachable","tolerationSeconds":1},` + notReady,
		`{"effect":"NoSchedule","key":"node.kubernetes.io/unreachable","operator":"Exists"}`:    `{"effect":"NoSchedule","key":"node.kubernetes.io/unreachable","operator":"Exists"},` + notReady + `,` + unreachable,
		`{"effect":"NoExecute","key":"example.org/other","operator":"Equal","value":"trouble"}`: `{"effect":"NoExecute","key":"example.org/other","operator":"Equal","value":"trouble"},` + notReady + `,` + unreachable,
		notReady + `,` + unreachable:                                                            notReady + `,` + unreachable,
	} {
		spec := `{"tolerations":[` + has + `]}`
		if has == "" {
			spec = `{}`
		}
		for what, live := range map[string]document.Value{"new": {}, "old": pod(t, `{`+unimportant+`}`)} {
			got, err := ForPods(open(t, nil)).Amend(t.Context(), pod(t, spec), live)
			if err != nil {
				t.Fatal(err)
			}
			if want := pod(t, `{`+unimportant+`,"tolerations":[`+want+`]}`); !document.Equal(got, want) {
				t.Errorf("%s pod with %s: received %s, want %s", what, spec, got.JSON(), want.JSON())
			}
		}
	}
}

// TestNothingToAmend: an object that has all that it needs is not made anew.
func TestNothingToAmend(t *testing.T) {
	full := pod(t, `{`+unimportant+`,"tolerations":[`+notReady+`,`+unreachable+`]}`)
	got, err := ForPods(open(t, nil)).Amend(t.Context(), full, full)
	if err != nil || !document.Same(got, full) {
		t.Errorf("received %s, %v", got.JSON(), err)
	}
}

// TestTaints: nothing is scheduled to a new node, and nobody else is told so.
func TestTaints(t *testing.T) {
	const taint = `{"effect":"NoSchedule","key":"node.kubernetes.io/not-ready"}`
	node := func(taints string) document.Value {
		return parse(t, `{"metadata":{"name":"n"},"spec":{"taints":[`+taints+`]}}`)
	}
	for has, want := range map[string]string{
		`{"effect":"NoSchedule","key":"x"}`:                            `{"effect":"NoSchedule","key":"x"},` + taint,
		`{"effect":"NoExecute","key":"node.kubernetes.io/not-ready"}`:  `{"effect":"NoExecute","key":"node.kubernetes.io/not-ready"},` + taint,
		`{"effect":"NoSchedule","key":"node.kubernetes.io/not-ready"}`: taint,
	} {
		for live, want := range map[document.Value]document.Value{{}: node(want), node(has): node(has)} {
			if got, err := ForNodes().Amend(t.Context(), node(has), live); err != nil || !document.Equal(got, want) {
				t.Errorf("%s, live %s: received %s, %v, want %s", has, live.JSON(), got.JSON(), err, want.JSON())
			}
		}
	}
	bare := parse(t, `{"metadata":{"name":"n"},"spec":{}}`)
	if got, err := ForNodes().Amend(t.Context(), bare, document.Value{}); err != nil || !document.Equal(got, node(taint)) {
		t.Errorf("received %s, %v", got.JSON(), err)
	}
}

// TestGrowth: a claim gets more room only from a class that can give it.
func TestGrowth(t *testing.T) {
	c := cachetest.Open(t)
	for name, rest := range map[string]string{"grows": `"allowVolumeExpansion":true,`, "stays": ``} {
		key := cache.Key{Kind: storageClasses, Name: name}
		value := `{` + rest + `"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"` + name + `"}}`
		if _, _, err := c.Commit(t.Context(), store.Write{Key: key.String(), Value: []byte(value)}); err != nil {
			t.Fatal(err)
		}
	}
	claim := func(room, class string) document.Value {
		return parse(t, `{"metadata":{"name":"c"},"spec":{"resources":{"requests":{"storage":"`+room+`"}},"storageClassName":"`+class+`"}}`)
	}
	annotated := parse(t, `{"metadata":{"annotations":{"volume.beta.kubernetes.io/storage-class":"grows"}},"spec":{"resources":{"requests":{"storage":"2Gi"}}}}`)
	for _, test := range []struct {
		name         string
		before, then document.Value
		want         error
	}{
		{"new", document.Value{}, claim("2Gi", "stays"), nil},
		{"the same in other words", claim("1Gi", "stays"), claim("1024Mi", "stays"), nil},
		{"less", claim("2Gi", "stays"), claim("1Gi", "stays"), nil},
		{"a class that grows", claim("1Gi", "grows"), claim("2Gi", "grows"), nil},
		{"a class that does not", claim("1Gi", "stays"), claim("2Gi", "stays"), errFixed},
		{"another class", claim("1Gi", "stays"), claim("2Gi", "grows"), errFixed},
		{"no such class", claim("1Gi", "gone"), claim("2Gi", "gone"), errFixed},
		{"no class", claim("1Gi", ""), claim("2Gi", ""), errFixed},
		{"a class in an annotation", claim("1Gi", "grows"), annotated, nil},
	} {
		err := ForClaims(c).MayWrite(t.Context(), test.then, test.before)
		if test.want == nil && err != nil || test.want != nil && (!apierrors.IsForbidden(err) || !strings.HasSuffix(err.Error(), test.want.Error())) {
			t.Errorf("%s: received %v, want %v", test.name, err, test.want)
		}
	}
}

// TestPriorities: what a pod gets from its class, or from the default.
func TestPriorities(t *testing.T) {
	system := map[string]string{"low": `"value":-5,"preemptionPolicy":"Never"`, "plain": `"value":9`}
	usual := map[string]string{"usual": `"value":7,"globalDefault":true,"preemptionPolicy":"Never"`, "also": `"value":8,"globalDefault":true`, "low": `"value":-5`}
	for _, test := range []struct {
		name    string
		classes map[string]string
		spec    string
		want    string // the spec without tolerations, or the beginning of the reason
	}{
		{"no class", nil, `{}`, `{` + unimportant + `}`},
		{"not the default", system, `{}`, `{` + unimportant + `}`},
		{"a class", system, `{"priorityClassName":"low"}`, `{"preemptionPolicy":"Never","priority":-5,"priorityClassName":"low"}`},
		{"a class without a policy", system, `{"priorityClassName":"plain"}`, `{"priority":9,"priorityClassName":"plain"}`},
		{"no such class", system, `{"priorityClassName":"high"}`, `no PriorityClass with name high was found`},
		{"the right number", system, `{"priorityClassName":"low","priority":-5}`, `{"preemptionPolicy":"Never","priority":-5,"priorityClassName":"low"}`},
		{"another number", system, `{"priorityClassName":"low","priority":5}`,
			`the integer value of priority (5) must not be provided in pod spec; priority admission controller computed -5 from the given PriorityClass name`},
		{"another policy", system, `{"priorityClassName":"low","preemptionPolicy":"PreemptLowerPriority"}`,
			`the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod spec; priority admission controller computed Never from the given PriorityClass name`},
		{"a policy of its own", system, `{"priorityClassName":"plain","preemptionPolicy":"Never"}`, `{"preemptionPolicy":"Never","priority":9,"priorityClassName":"plain"}`},
		{"the lowest default", usual, `{}`, `{"preemptionPolicy":"Never","priority":7,"priorityClassName":"usual"}`},
		{"not the default, though there is one", usual, `{"priorityClassName":"low"}`, `{"priority":-5,"priorityClassName":"low"}`},
	} {
		got, err := ForPods(open(t, test.classes)).Amend(t.Context(), pod(t, test.spec), document.Value{})
		if !strings.HasPrefix(test.want, "{") {
			if !apierrors.IsForbidden(err) || err.Error() != `pods "p" is forbidden: `+test.want {
				t.Errorf("%s: received %v, want %s", test.name, err, test.want)
			}
			continue
		}
		if spec := got.Get("spec").Without("tolerations"); err != nil || !document.Equal(spec, parse(t, test.want)) {
			t.Errorf("%s: received %s, %v, want %s", test.name, spec.JSON(), err, test.want)
		}
	}
}

// TestPriorityStays: what a pod has does not depend on what classes say now, or whether they exist.
func TestPriorityStays(t *testing.T) {
	extra := ForPods(open(t, map[string]string{"usual": `"value":7,"globalDefault":true`}))
	live := pod(t, `{"preemptionPolicy":"Never","priority":3,"priorityClassName":"gone"}`)
	got, err := extra.Amend(t.Context(), pod(t, `{"priorityClassName":"gone"}`), live)
	if want := parse(t, `{"preemptionPolicy":"Never","priority":3,"priorityClassName":"gone"}`); err != nil || !document.Equal(got.Get("spec").Without("tolerations"), want) {
		t.Errorf("received %s, %v", got.JSON(), err)
	}
	got, err = extra.Amend(t.Context(), pod(t, `{"priority":4}`), live)
	if n, _ := got.Lookup("spec", "priority").Int64(); err != nil || n != 4 {
		t.Errorf("what is asked for is not replaced, but left to be refused: %s, %v", got.JSON(), err)
	}
}

// TestOneDefault: there is one default class, which can be written again.
func TestOneDefault(t *testing.T) {
	extra := ForPriorityClasses(open(t, map[string]string{"usual": `"value":7,"globalDefault":true`, "low": `"value":1`}))
	for text, reason := range map[string]string{
		`{"metadata":{"name":"usual"},"value":7,"globalDefault":true}`:  "",
		`{"metadata":{"name":"other"},"value":8}`:                       "",
		`{"metadata":{"name":"other"},"value":8,"globalDefault":false}`: "",
		`{"metadata":{"name":"other"},"value":8,"globalDefault":true}`:  "PriorityClass usual is already marked as default. Only one default can exist",
		`{"metadata":{"name":"low"},"value":1,"globalDefault":true}`:    "PriorityClass usual is already marked as default. Only one default can exist",
	} {
		class := parse(t, text)
		got, err := extra.Amend(t.Context(), class, document.Value{})
		if !document.Same(got, class) {
			t.Errorf("%s became %s", text, got.JSON())
		}
		if reason == "" && err != nil || reason != "" && (!apierrors.IsForbidden(err) || !strings.HasSuffix(err.Error(), reason)) {
			t.Errorf("%s: received %v, want %q", text, err, reason)
		}
	}
	first := ForPriorityClasses(open(t, nil))
	if _, err := first.Amend(t.Context(), parse(t, `{"metadata":{"name":"first"},"value":7,"globalDefault":true}`), document.Value{}); err != nil {
		t.Errorf("the first default: %v", err)
	}
}

// TestSystemClassesStay: nobody deletes what the system needs.
func TestSystemClassesStay(t *testing.T) {
	extra := ForPriorityClasses(nil)
	for _, class := range SystemClasses {
		if err := extra.MayDelete(class.Name); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "this is a system priority class and cannot be deleted") {
			t.Errorf("%s: %v", class.Name, err)
		}
		if class.Value <= 1_000_000_000 || class.Description == "" {
			t.Errorf("%+v is not above what users may make", class)
		}
	}
	if err := extra.MayDelete("mine"); err != nil {
		t.Error(err)
	}
}

// TestClosed: that the classes can't be read is an answer, not a class of priority 0.
func TestClosed(t *testing.T) {
	c := open(t, nil)
	c.Close()
	for what, extra := range map[string]objects.Extra{"pod": ForPods(c), "class": ForPriorityClasses(c)} {
		for _, spec := range []string{`{}`, `{"priorityClassName":"low"}`} {
			obj := pod(t, spec).With("globalDefault", document.NewBool(true))
			if _, err := extra.Amend(context.Background(), obj, document.Value{}); !apierrors.IsServiceUnavailable(err) {
				t.Errorf("%s %s: received %v", what, spec, err)
			}
		}
	}
}
