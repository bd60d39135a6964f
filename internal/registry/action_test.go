package registry_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/admission/plugin/namespacelifecycle"
	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/registry/registrytest"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache/watchcachetest"
)

// extraWrite creates the ConfigMap with the key extraKey. The admission plugins of tests add it to a request's transaction.
var extraWrite = storage.Write{Key: extraKey.String(), Value: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"beside","namespace":"default"}}`)}

// endpointPlugin is an admission plugin that calls run for create requests to one endpoint.
type endpointPlugin struct {
	// endpoint is RESOURCE/SUBRESOURCE, or RESOURCE/ for the resource itself.
	endpoint string
	phase    admission.Phase
	run      func(ctx context.Context, a *admission.Attributes) error
}

func (*endpointPlugin) Name() string { return "Test" }

func (p *endpointPlugin) Handles(operation admission.Operation, r admission.Resource) admission.Phase {
	if operation == admission.Create && r.Resource+"/"+r.Subresource == p.endpoint {
		return p.phase
	}
	return 0
}

func (p *endpointPlugin) Admit(ctx context.Context, a *admission.Attributes) error {
	return p.run(ctx, a)
}
func (p *endpointPlugin) Validate(ctx context.Context, a *admission.Attributes) error {
	return p.run(ctx, a)
}

// actionRequests maps endpoints, RESOURCE/SUBRESOURCE, to functions that send a create request whose body is not stored. The
// pod "a" must exist.
var actionRequests = map[string]func(k *registrytest.Kit, dryRun bool) error{
	"pods/binding": func(k *registrytest.Kit, dryRun bool) error {
		request := subresourceRequest(k, "pods", "a", "binding", `{"metadata":{"name":"a"},"target":{"name":"one"}}`)
		request.DryRun = dryRun
		_, err := k.Registry.CreateSubresource(k.Context(), request)
		return err
	},
	"pods/eviction": func(k *registrytest.Kit, dryRun bool) error {
		request := subresourceRequest(k, "pods", "a", "eviction", `{"metadata":{"name":"a"}}`)
		request.DryRun = dryRun
		_, err := k.Registry.CreateSubresource(k.Context(), request)
		return err
	},
	"localsubjectaccessreviews/": func(k *registrytest.Kit, dryRun bool) error {
		request := k.Request("localsubjectaccessreviews.authorization.k8s.io", "default", "", `{"metadata":{"namespace":"default"},"spec":{"user":"u","nonResourceAttributes":{"path":"/x","verb":"get"}}}`)
		request.DryRun = dryRun
		_, err := k.Registry.Review(k.Context(), request)
		return err
	},
}

// openWithPod returns a registry with the admission plugin p, the pod "a", and the ConfigMap "gate".
func openWithPod(t *testing.T, p *endpointPlugin) *registrytest.Kit {
	t.Helper()
	k := registrytest.OpenWithPlugins(t, watchcachetest.OpenStore(t), p)
	k.Create("pods", "default", `{"metadata":{"name":"a"},"spec":{"terminationGracePeriodSeconds":0,"containers":[{"name":"a","image":"a"}]}}`)
	k.Create("configmaps", "default", `{"metadata":{"name":"gate"},"data":{"n":"0"}}`)
	return k
}

// TestActionRequireUnchanged checks that a request whose body is not stored is repeated, including admission, if an object that
// a plugin has passed to RequireUnchanged changes.
func TestActionRequireUnchanged(t *testing.T) {
	for endpoint, send := range actionRequests {
		for _, phase := range []admission.Phase{admission.Mutating, admission.Validating} {
			p := &endpointPlugin{endpoint: endpoint, phase: phase}
			k := openWithPod(t, p)
			var seen []string
			p.run = func(ctx context.Context, a *admission.Attributes) error {
				gate, err := a.Reader.Get(ctx, configMaps, "default", "gate")
				if err != nil {
					return err
				}
				a.RequireUnchanged(gate)
				seen = append(seen, gate.Document.Lookup("data", "n").Text())
				if len(seen) < 3 {
					k.Merge("configmaps", "default", "gate", `{"data":{"n":"`+strings.Repeat("1", len(seen))+`"}}`)
				}
				return nil
			}
			if err := send(k, false); err != nil {
				t.Errorf("create request to %s: got error %v, want none", endpoint, err)
			}
			if want := []string{"0", "1", "11"}; !slices.Equal(seen, want) {
				t.Errorf("create request to %s, plugin phase %b: the attempts read the values %v, want %v", endpoint, phase, seen, want)
			}
		}
	}
}

// TestActionCommitWith checks that the write of an admission plugin is committed even if the body of the request is not stored,
// except in a dry run.
func TestActionCommitWith(t *testing.T) {
	for endpoint, send := range actionRequests {
		p := &endpointPlugin{endpoint: endpoint, phase: admission.Mutating}
		k := openWithPod(t, p)
		p.run = func(_ context.Context, a *admission.Attributes) error {
			admission.RecordOf(a).CommitWith(extraWrite)
			return nil
		}
		for _, dryRun := range []bool{true, false} {
			if err := send(k, dryRun); err != nil {
				t.Errorf("create request to %s: got error %v, want none", endpoint, err)
			}
			if got := k.Has(extraKey.Kind, extraKey.Namespace, extraKey.Name); got == dryRun {
				t.Errorf("create request to %s, dry run %v: write of the plugin committed: got %v, want %v", endpoint, dryRun, got, !dryRun)
			}
		}
	}
}

// TestEvictionCountsOnce checks that an eviction decrements disruptionsAllowed once, even if the request is repeated because an
// object that an admission plugin has passed to RequireUnchanged has changed.
func TestEvictionCountsOnce(t *testing.T) {
	p := &endpointPlugin{endpoint: "pods/eviction", phase: admission.Mutating}
	k := openWithPod(t, p)
	runPod(k, "b")
	k.Create("poddisruptionbudgets.policy", "default", budget)
	writeStatus(k, "poddisruptionbudgets.policy", "web", `{"observedGeneration":1,"disruptionsAllowed":2,"desiredHealthy":1,"currentHealthy":3,"expectedPods":3}`)
	attempts := 0
	p.run = func(ctx context.Context, a *admission.Attributes) error {
		gate, err := a.Reader.Get(ctx, configMaps, "default", "gate")
		if err != nil {
			return err
		}
		a.RequireUnchanged(gate)
		if attempts++; attempts == 1 {
			k.Merge("configmaps", "default", "gate", `{"data":{"n":"1"}}`)
		}
		return nil
	}
	if err := evict(k, t.Context(), "b"); err != nil || attempts != 2 {
		t.Errorf("evict() = %v after %d attempts, want success after 2", err, attempts)
	}
	if got := k.Get("policy/poddisruptionbudgets", "default", "web").Lookup("status", "disruptionsAllowed"); got.String() != "1" {
		t.Errorf("disruptionsAllowed = %v, want 1", got)
	}
}

// TestBindingInTerminatingNamespace checks that a pod is not bound if its namespace was deleted after admission of the Binding.
func TestBindingInTerminatingNamespace(t *testing.T) {
	var k *registrytest.Kit
	terminated := false
	store := registrytest.HookedStore{Store: watchcachetest.OpenStore(t), Before: func(writes []storage.Write) {
		isBinding := slices.ContainsFunc(writes, func(w storage.Write) bool { return strings.Contains(string(w.Value), `"nodeName":"one"`) })
		if isBinding && !terminated {
			terminated = true
			k.Delete("namespaces", "", "team", registry.Background)
		}
	}}
	k = registrytest.OpenWithPlugins(t, store, namespacelifecycle.Plugin{})
	k.Create("namespaces", "", `{"metadata":{"name":"team"},"spec":{"finalizers":["kubernetes"]}}`)
	k.Create("pods", "team", `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"a","image":"a"}]}}`)
	request := subresourceRequest(k, "pods", "a", "binding", `{"metadata":{"name":"a"},"target":{"name":"one"}}`)
	request.Namespace = "team"
	_, err := k.Registry.CreateSubresource(t.Context(), request)
	if !terminated || !apierrors.HasStatusCause(err, metav1.CauseType("NamespaceTerminating")) {
		t.Errorf("CreateSubresource() = %v, want a 403 with the cause NamespaceTerminating", err)
	}
	if node := k.Get("core/pods", "team", "a").Lookup("spec", "nodeName"); !node.IsAbsent() {
		t.Errorf("spec.nodeName of the pod in the terminating namespace: got %v, want none", node)
	}
}
