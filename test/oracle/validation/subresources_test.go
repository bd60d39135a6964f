package oracle

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/registry/certificates/certificates"
	"k8s.io/kubernetes/pkg/registry/core/pod"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/builtin"
)

// subresource is a subresource whose updates have their own validation.
type subresource struct {
	kind     schema.GroupKind
	name     string
	strategy rest.RESTUpdateStrategy
	// places lists prefixes of JSON pointers: only fields whose pointers have one of them are changed.
	places []string
}

var subresources = []subresource{
	{schema.GroupKind{Kind: "Pod"}, "ephemeralcontainers", pod.EphemeralContainersStrategy, []string{"/spec/ephemeralContainers"}},
	{schema.GroupKind{Kind: "Pod"}, "resize", pod.ResizeStrategy, []string{"/spec/containers", "/spec/initContainers", "/spec/resources"}},
	{schema.GroupKind{Group: "certificates.k8s.io", Kind: "CertificateSigningRequest"}, "approval", certificates.ApprovalStrategy, []string{"/status/conditions"}},
}

// TestSubresourcePairs changes objects at one or two paths, and compares the errors of an update through a subresource
// with kube-apiserver's.
func TestSubresourcePairs(t *testing.T) {
	more, err := readChanges(*folder + "/changes.txt")
	if err != nil {
		t.Fatal(err)
	}
	compared := map[string]int{}
	for _, s := range samples(t, "subresources") {
		typ, ok := builtin.Builtin("io.k8s.api." + s.typ)
		if !ok {
			t.Fatalf("type %s is not in internal/api/builtin", s.typ)
		}
		for _, sub := range subresources {
			if sub.kind != s.gvk.GroupKind() {
				continue
			}
			all := sub.changes(s, more)
			if len(all) == 0 {
				continue
			}
			random := rand.New(rand.NewPCG(*seed, uint64(len(s.text))))
			for _, c := range all {
				compared[sub.compare(t, s, typ, []change{c}, nil)]++
				compared[sub.compare(t, s, typ, nil, []change{c})]++
			}
			for range 10 * *pairs {
				pick := func() change { return all[random.IntN(len(all))] }
				compared[sub.compare(t, s, typ, []change{pick(), pick()}, []change{pick()})]++
			}
		}
	}
	t.Log(compared)
}

func (sub subresource) changes(s sample, more map[string][]change) (list []change) {
	for _, c := range append(changes("", s.tree), more[s.key()]...) {
		for _, place := range sub.places {
			if strings.HasPrefix(c.At, place) {
				list = append(list, c)
			}
		}
	}
	return list
}

// compare compares the errors of Cadastre and of kube-apiserver for an update of s: the old object has the changes in
// from, the new object those in to. It returns the outcome, which the caller counts.
func (sub subresource) compare(t *testing.T, s sample, typ *builtin.Type, to, from []change) string {
	now, nowText, ok := statusOf(s, to...)
	if !ok {
		return sub.name + " not decoded"
	}
	was, wasText, ok := statusOf(s, from...)
	if !ok {
		return sub.name + " not decoded"
	}
	upstream, ok := sub.upstreamVerdict(now, was, s.gvk)
	if !ok {
		return sub.name + " prepared"
	}
	doc, err := document.ParseJSON(nowText)
	if err != nil {
		t.Fatal(err)
	}
	old, err := document.ParseJSON(wasText)
	if err != nil {
		t.Fatal(err)
	}
	cadastre := typ.ValidateSubresource(sub.name, doc, old)
	if len(cadastre) != len(upstream) {
		t.Errorf("update of %s through %s from %v to %v:\n got %v\n want %q as kube-apiserver", s.name, sub.name, from, to, cadastre, upstream)
	}
	return fmt.Sprintf("%s rejected=%v", sub.name, len(upstream) > 0)
}

// upstreamVerdict returns the errors of kube-apiserver's validation. ok is false if its strategy changes the object
// before it is validated.
func (sub subresource) upstreamVerdict(object, old runtime.Object, gvk schema.GroupVersionKind) (upstream verdict, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	object, old = object.DeepCopyObject(), old.DeepCopyObject()
	m, err := meta.Accessor(object)
	if err != nil {
		return nil, false
	}
	ctx := requestFor(sub.strategy, gvk, m)
	prepared := object.DeepCopyObject()
	sub.strategy.PrepareForUpdate(ctx, prepared, old)
	p, err := meta.Accessor(prepared)
	if err != nil {
		return nil, false
	}
	p.SetGeneration(m.GetGeneration())
	if !equality.Semantic.DeepEqual(object, prepared) {
		return nil, false
	}
	return causes(rest.BeforeUpdate(sub.strategy, ctx, object, old))
}
