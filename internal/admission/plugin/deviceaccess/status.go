package deviceaccess

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiserver/pkg/authentication/user"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/auth/authz/rbac"
)

// statusErrors returns a Forbidden error for each change of a claim's status that requires a permission which the user
// lacks.
func (p *Plugin) statusErrors(ctx context.Context, a *admission.Attributes) (errs field.ErrorList) {
	if p.Authorizer == nil {
		return nil
	}
	now, old := a.Object.Get("status"), a.OldObject.Get("status")
	if !document.Equal(now.Get("allocation"), old.Get("allocation")) || !document.Equal(now.Get("reservedFor"), old.Get("reservedFor")) {
		if verb, err := p.authorize(ctx, a, "", resourcev1.SubresourceBinding, "", ""); err != nil {
			errs = append(errs, field.Forbidden(field.NewPath("status", "allocation"),
				fmt.Sprintf("changing status.allocation or status.reservedFor requires resource=\"resourceclaims/binding\", verb=\"%s\" permission: %v", verb, err)))
		}
	}
	if now.Get("allocation").IsAbsent() {
		return errs // a claim that is not allocated has no devices whose status could change
	}
	for _, driver := range changedDrivers(now.Get("devices"), old.Get("devices")) {
		errs = append(errs, p.driverErrors(ctx, a, driver, now.Get("allocation"))...)
	}
	return errs
}

// authorize checks the permission for the request's verb, prefixed with verbPrefix, on a subresource of ResourceClaims. It
// returns the prefixed verb, and an error if the permission is denied. An empty namespace means all namespaces, an empty
// name all objects.
func (p *Plugin) authorize(ctx context.Context, a *admission.Attributes, verbPrefix, subresource, namespace, name string) (verb string, err error) {
	at := &rbac.Attributes{
		User: a.User, Verb: verbPrefix + a.Verb, Group: a.Group, Resource: a.Resource.Resource,
		Subresource: subresource, Namespace: namespace, Name: name,
	}
	return at.Verb, rbac.Check(ctx, p.Authorizer, at)
}

// driverErrors returns an error if the user may not change the status of the driver's devices. The user needs the permission
// arbitrary-node. For a pod on the claim's node, the permission associated-node suffices.
func (p *Plugin) driverErrors(ctx context.Context, a *admission.Attributes, driver string, allocation document.Value) field.ErrorList {
	prefixes := []string{resourcev1.VerbPrefixArbitraryNode}
	if node := allocatedNode(allocation); node != "" && isBoundToNode(a.User, node) {
		prefixes = []string{resourcev1.VerbPrefixAssociatedNode, resourcev1.VerbPrefixArbitraryNode}
	}
	var first error
	var verbs []string
	for _, prefix := range prefixes {
		verb, err := p.authorize(ctx, a, prefix, resourcev1.SubresourceDriver, a.Namespace, driver)
		if err == nil {
			return nil
		}
		if verbs = append(verbs, verb); first == nil {
			first = err
		}
	}
	return field.ErrorList{field.Forbidden(field.NewPath("status", "devices"),
		fmt.Sprintf("changing status.devices requires resource=\"resourceclaims/driver\", verb=\"%s\" permission: %v", verbs, first))}
}

// isBoundToNode reports whether the user is a service account whose token is bound to a pod on the node.
func isBoundToNode(u user.Info, node string) bool {
	const nodeName = "authentication.kubernetes.io/node-name"
	names := u.GetExtra()[nodeName]
	return strings.HasPrefix(u.GetName(), "system:serviceaccount:") && len(names) == 1 && names[0] == node
}

// allocatedNode returns the name of the node that a claim is allocated on; "" if the node selector is not exactly one match
// of metadata.name.
func allocatedNode(allocation document.Value) string {
	terms := allocation.Lookup("nodeSelector", "nodeSelectorTerms")
	if terms.Len() != 1 || terms.At(0).Get("matchExpressions").Len() > 0 || terms.At(0).Get("matchFields").Len() != 1 {
		return ""
	}
	term := terms.At(0).Get("matchFields").At(0)
	if term.Get("key").Text() != "metadata.name" || term.Get("operator").Text() != "In" || term.Get("values").Len() != 1 {
		return ""
	}
	return term.Get("values").At(0).Text()
}

// changedDrivers returns the sorted names of the drivers whose devices were added, removed or changed in status.devices.
func changedDrivers(current, old document.Value) []string {
	var drivers []string
	collect := func(from, other document.Value) {
		for _, device := range from.Items() {
			if !contains(other, device) {
				drivers = append(drivers, device.Get("driver").Text())
			}
		}
	}
	collect(current, old)
	collect(old, current)
	slices.Sort(drivers)
	return slices.Compact(drivers)
}

func contains(list, item document.Value) bool {
	for _, other := range list.Items() {
		if document.Equal(item, other) {
			return true
		}
	}
	return false
}
