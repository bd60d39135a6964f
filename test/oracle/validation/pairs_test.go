package oracle

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/builtin"
)

var (
	pairs = flag.Int("pairs", 100, "`number` of changes at two paths per object")
	seed  = flag.Uint64("seed", 1, "`seed` of the pairs")
)

// TestPairs changes objects at two paths, and compares Cadastre's validation of the creation and of the update with
// kube-apiserver's. It finds rules that depend on two fields. It records nothing.
func TestPairs(t *testing.T) {
	more, err := readChanges(*folder + "/changes.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range samples(t, "objects") {
		if upstream, ok := upstreamVerdict(s.object, nil, s.gvk); !ok || len(upstream) > 0 {
			continue // an object that is invalid before the changes shows nothing about them
		}
		random := rand.New(rand.NewPCG(*seed, uint64(len(s.text))))
		all := append(withoutCommonPaths(changes("", s.tree)), more[s.key()]...)
		typ, ok := builtin.Builtin("io.k8s.api." + s.typ)
		if !ok {
			t.Errorf("unknown type %s", s.typ)
			continue
		}
		right := accepted(s, all)
		for i := range *pairs {
			a, b := all[random.IntN(len(all))], all[random.IntN(len(all))]
			if i%4 > 0 && len(right) > 0 {
				a, b = right[random.IntN(len(right))], right[random.IntN(len(right))]
			}
			if !strings.HasPrefix(b.At, a.At) {
				comparePair(t, s, typ, a, b)
			}
		}
	}
}

// withoutCommonPaths returns all without changes of metadata, which all kinds have in common, and of the status, which
// the strategies reset.
func withoutCommonPaths(all []change) (left []change) {
	for _, c := range all {
		if c.At != "" && c.At != "/kind" && c.At != "/apiVersion" && c.At != "/metadata" && !isUsualMetadata(c.At) && !strings.HasPrefix(c.At, "/status") {
			left = append(left, c)
		}
	}
	return left
}

// accepted returns the changes that leave the object of s valid. If two of these changes together cause an error, the
// error depends on both.
func accepted(s sample, all []change) (right []change) {
	for _, c := range all {
		text, err := json.Marshal(apply(s.tree, c))
		if err != nil {
			continue
		}
		object, _, stable, err := decode(text)
		if err != nil || !stable {
			continue
		}
		if upstream, ok := upstreamVerdict(object, nil, s.gvk); ok && len(upstream) == 0 {
			right = append(right, c)
		}
	}
	return right
}

// knownGaps lists parts of the messages of errors that kube-apiserver reports and Cadastre does not: see gaps.txt.
var knownGaps = []string{"compilation failed", "must evaluate to", "primary clusterIP can not be unset", "spec.clusterIPs Required value", "spec.ports Required value"}

func withoutGaps(upstream verdict) verdict {
	return slices.DeleteFunc(slices.Clone(upstream), func(e string) bool {
		return slices.ContainsFunc(knownGaps, func(gap string) bool { return strings.Contains(e, gap) })
	})
}

func comparePair(t *testing.T, s sample, typ *builtin.Type, a, b change) {
	text, err := json.Marshal(apply(apply(s.tree, a), b))
	if err != nil {
		return
	}
	object, _, stable, err := decode(text)
	if err != nil || !stable {
		return
	}
	now, err := document.ParseJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	old, err := document.ParseJSON(s.text)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "create", s, object, nil, typ.Validate(now, document.Value{}), a, b)
	compare(t, "update", s, object, s.object, typ.Validate(now, old), a, b)
}

func compare(t *testing.T, verb string, s sample, object, old runtime.Object, cadastre field.ErrorList, a, b change) {
	upstream, ok := upstreamVerdict(object, old, s.gvk)
	if !ok {
		return
	}
	if len(cadastre) == 0 && len(withoutGaps(upstream)) > 0 || len(cadastre) > 0 && len(upstream) == 0 {
		t.Errorf("%s of %s with %v and %v:\n got %v\n want %q as kube-apiserver", verb, s.name, a, b, cadastre, upstream)
	}
}

// TestStatusPairs is TestPairs for updates through the status subresource.
func TestStatusPairs(t *testing.T) {
	more, err := readChanges(*folder + "/changes.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, s := range samples(t, "statuses") {
		random := rand.New(rand.NewPCG(*seed, uint64(len(s.text))))
		typ, ok := builtin.Builtin("io.k8s.api." + s.typ)
		if !ok {
			t.Errorf("unknown type %s", s.typ)
			continue
		}
		all := statusChanges(s, more)
		for range *pairs {
			a, b := all[random.IntN(len(all))], all[random.IntN(len(all))]
			c, d := all[random.IntN(len(all))], all[random.IntN(len(all))]
			if compareStatuses(t, s, typ, []change{a, b}, []change{c, d}) {
				n++
			}
		}
	}
	t.Logf("%d pairs", n)
}

// compareStatuses compares Cadastre's validation of a status update with kube-apiserver's. The old object of the update
// is s with the changes in from, the new object is s with the changes in to. It returns false if there is nothing to
// compare.
func compareStatuses(t *testing.T, s sample, typ *builtin.Type, to, from []change) bool {
	now, nowText, ok := statusOf(s, to...)
	if !ok {
		return false
	}
	was, wasText, ok := statusOf(s, from...)
	if !ok {
		return false
	}
	upstream, ok := upstreamStatusVerdict(now, was, s.gvk)
	if !ok {
		return false
	}
	doc, err := document.ParseJSON(nowText)
	if err != nil {
		t.Fatal(err)
	}
	old, err := document.ParseJSON(wasText)
	if err != nil {
		t.Fatal(err)
	}
	cadastre := typ.ValidateSubresource("status", doc, old)
	if (len(cadastre) == 0) != (len(upstream) == 0) || len(cadastre) != len(upstream) {
		t.Errorf("status update of %s from %v to %v:\n got %v\n want %q as kube-apiserver", s.name, from, to, cadastre, upstream)
	}
	return true
}
