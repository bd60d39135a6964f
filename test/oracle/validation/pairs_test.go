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
	pairs = flag.Int("pairs", 100, "how often each object is changed in two places")
	seed  = flag.Uint64("seed", 1, "where pairs start")
)

// TestPairs changes objects in two places at once, and asks kube-apiserver and our rules whether
// the object can be created, and whether what it was before can be updated to it. Nothing of that
// is recorded; it finds what depends on two fields.
func TestPairs(t *testing.T) {
	more, err := readChanges(*folder + "/changes.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range samples(t, "objects") {
		if said, ok := ask(s.object, nil, s.gvk); !ok || len(said) > 0 {
			continue // an object that can't be created says little about two changes of it
		}
		random := rand.New(rand.NewPCG(*seed, uint64(len(s.text))))
		all := append(interesting(changes("", s.tree)), more[s.key()]...)
		typ, ok := builtin.Builtin("io.k8s.api." + s.typ)
		if !ok {
			t.Errorf("there is no type %s", s.typ)
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

// interesting leaves out metadata, which is the same for all kinds, and the status, which is wiped.
func interesting(all []change) (left []change) {
	for _, c := range all {
		if c.At != "" && c.At != "/kind" && c.At != "/apiVersion" && c.At != "/metadata" && !isUsualMetadata(c.At) && !strings.HasPrefix(c.At, "/status") {
			left = append(left, c)
		}
	}
	return left
}

// accepted returns the changes after which an object can still be created: what is wrong with two
// of them is wrong only with both.
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
		if said, ok := ask(object, nil, s.gvk); ok && len(said) == 0 {
			right = append(right, c)
		}
	}
	return right
}

// knownGaps are in what kube-apiserver says and we do not: see gaps.txt.
var knownGaps = []string{"compilation failed", "must evaluate to", "primary clusterIP can not be unset", "spec.clusterIPs Required value", "spec.ports Required value"}

func withoutGaps(said verdict) verdict {
	return slices.DeleteFunc(slices.Clone(said), func(e string) bool {
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

func compare(t *testing.T, verb string, s sample, object, old runtime.Object, ours field.ErrorList, a, b change) {
	said, ok := ask(object, old, s.gvk)
	if !ok {
		return
	}
	if len(ours) == 0 && len(withoutGaps(said)) > 0 || len(ours) > 0 && len(said) == 0 {
		t.Errorf("%s %s, %v and %v:\n ours %v\n theirs %q", verb, s.name, a, b, ours, said)
	}
}

// TestStatusPairs does the same to statuses.
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
			t.Errorf("there is no type %s", s.typ)
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

// compareStatuses asks about the way from some changes to others.
func compareStatuses(t *testing.T, s sample, typ *builtin.Type, to, from []change) bool {
	now, nowText, ok := statusOf(s, to...)
	if !ok {
		return false
	}
	was, wasText, ok := statusOf(s, from...)
	if !ok {
		return false
	}
	said, ok := askStatus(now, was, s.gvk)
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
	ours := typ.ValidateSubresource("status", doc, old)
	if (len(ours) == 0) != (len(said) == 0) || len(ours) != len(said) {
		t.Errorf("%s from %v to %v:\n ours %v\n theirs %q", s.name, from, to, ours, said)
	}
	return true
}
