package registry_test

import (
	"context"
	"strings"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/registry/registrytest"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache/watchcachetest"
)

// subresourceRequest returns a request to a subresource of an object in the namespace default.
func subresourceRequest(k *registrytest.Kit, resource, name, subresource, body string) *registry.Request {
	k.Helper()
	request := k.Request(resource, "default", name, body)
	endpoint, err := k.Registry.Endpoint(request.Endpoint.Kind, request.Endpoint.Version, subresource)
	if err != nil {
		k.Fatal(err)
	}
	request.Endpoint = endpoint
	return request
}

// evict creates an Eviction of a pod in the namespace default.
func evict(k *registrytest.Kit, ctx context.Context, name string) error {
	k.Helper()
	_, err := k.Registry.CreateSubresource(ctx, subresourceRequest(k, "pods", name, "eviction", `{"metadata":{"name":"`+name+`"}}`))
	return err
}

// writeStatus patches the status of an object in the namespace default.
func writeStatus(k *registrytest.Kit, resource, name, status string) {
	k.Helper()
	if _, err := k.Registry.Patch(k.Context(), subresourceRequest(k, resource, name, "status", `{"status":`+status+`}`), registry.MergePatch); err != nil {
		k.Fatal(err)
	}
}

// runPod creates a pod with the phase Running and the condition Ready, and with a grace period of 0.
func runPod(k *registrytest.Kit, name string) {
	k.Helper()
	k.Create("pods", "default", `{"metadata":{"name":"`+name+`","labels":{"app":"web"}},"spec":{"terminationGracePeriodSeconds":0,"nodeName":"one","containers":[{"name":"a","image":"a"}]}}`)
	writeStatus(k, "pods", name, `{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}`)
}

// budget is the PodDisruptionBudget web, which selects the pods of runPod.
const budget = `{"metadata":{"name":"web"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"web"}}}}`

// TestEvictionChecksBudget checks the error for each status of a budget that does not allow an eviction, and that the pod is not
// deleted.
func TestEvictionChecksBudget(t *testing.T) {
	k := registrytest.Open(t)
	runPod(k, "a")
	k.Create("poddisruptionbudgets.policy", "default", budget)
	for _, test := range []struct {
		status, cause string
		retryAfter    int32
	}{
		{`{"observedGeneration":0}`, "The disruption budget web is still being processed by the server.", 10},
		{`{"observedGeneration":1,"desiredHealthy":1,"currentHealthy":1}`, "The disruption budget web needs 1 healthy pods and has 1 currently", 0},
		{`{"desiredHealthy":1,"currentHealthy":2}`, "The disruption budget web does not allow evicting pods currently", 0},
		{
			`{"conditions":[{"type":"DisruptionAllowed","status":"False","reason":"SyncFailed","message":"why","lastTransitionTime":"2026-01-02T03:04:05Z"}]}`,
			"The disruption budget web does not allow evicting pods currently because it failed sync: why", 0,
		},
		{
			`{"conditions":[{"type":"DisruptionAllowed","status":"False","reason":"Other","message":"why","lastTransitionTime":"2026-01-02T03:04:05Z"}]}`,
			"The disruption budget web does not allow evicting pods currently (Other): why", 0,
		},
	} {
		writeStatus(k, "poddisruptionbudgets.policy", "web", test.status)
		err := evict(k, k.Context(), "a")
		details := &metav1.StatusDetails{}
		if status, ok := err.(apierrors.APIStatus); ok {
			details = status.Status().Details
		}
		if !apierrors.IsTooManyRequests(err) || details.RetryAfterSeconds != test.retryAfter || len(details.Causes) != 1 ||
			details.Causes[0] != (metav1.StatusCause{Type: policyv1.DisruptionBudgetCause, Message: test.cause}) {
			t.Errorf("eviction with budget status %s: got error %v with details %+v, want a 429 with retryAfterSeconds %d and the cause %q",
				test.status, err, details, test.retryAfter, test.cause)
		}
	}
	if !k.Has("core/pods", "default", "a") {
		t.Error("the pod a was deleted, want it to exist after rejected evictions")
	}
}

// TestEvictionLosesRaces checks that two concurrent evictions never use the same allowed disruption: if another eviction has
// decremented the budget before the commit, the budget is checked again.
func TestEvictionLosesRaces(t *testing.T) {
	var k *registrytest.Kit
	raced := false
	k = registrytest.OpenStore(t, registrytest.HookedStore{Store: watchcachetest.OpenStore(t), Before: func(writes []storage.Write) {
		if !raced && k != nil && strings.Contains(string(writes[0].Value), `"disruptedPods":{"a":`) {
			raced = true
			if err := evict(k, context.Background(), "b"); err != nil {
				t.Error(err)
			}
		}
	}})
	runPod(k, "a")
	runPod(k, "b")
	k.Create("poddisruptionbudgets.policy", "default", budget)
	writeStatus(k, "poddisruptionbudgets.policy", "web", `{"observedGeneration":1,"disruptionsAllowed":1,"desiredHealthy":1,"currentHealthy":2,"expectedPods":2}`)
	if err := evict(k, k.Context(), "a"); !apierrors.IsTooManyRequests(err) || !raced {
		t.Errorf("eviction of a: got error %v, want a 429; concurrent eviction of b: got %v, want true", err, raced)
	}
	status := k.Get("policy/poddisruptionbudgets", "default", "web").Get("status")
	if !k.Has("core/pods", "default", "a") || k.Has("core/pods", "default", "b") || status.Get("disruptedPods").Len() != 1 {
		t.Errorf("after both evictions: got budget status %v, want pod a to exist, pod b deleted, and one disrupted pod", status)
	}
}

// TestBindingIsBoundOnce checks that one of two concurrent Bindings of a pod fails.
func TestBindingIsBoundOnce(t *testing.T) {
	var k *registrytest.Kit
	bind := func(ctx context.Context, node string) error {
		_, err := k.Registry.CreateSubresource(ctx, subresourceRequest(k, "pods", "a", "binding", `{"metadata":{"name":"a"},"target":{"name":"`+node+`"}}`))
		return err
	}
	raced := false
	k = registrytest.OpenStore(t, registrytest.HookedStore{Store: watchcachetest.OpenStore(t), Before: func(writes []storage.Write) {
		if !raced && k != nil && strings.Contains(string(writes[0].Value), `"nodeName":"one"`) {
			raced = true
			if err := bind(context.Background(), "two"); err != nil {
				t.Error(err)
			}
		}
	}})
	k.Create("pods", "default", `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"a","image":"a"}]}}`)
	if err := bind(t.Context(), "one"); !apierrors.IsConflict(err) || !strings.Contains(err.Error(), `already assigned to node "two"`) {
		t.Errorf("second Binding of the pod: got error %v, want a 409 that names node two", err)
	}
	if pod := k.Get("core/pods", "default", "a"); pod.Lookup("spec", "nodeName").Text() != "two" {
		t.Errorf("pod after both Bindings: got %v, want spec.nodeName two", pod)
	}
}
