package objects

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/store"
)

// deviceGroup is that of claims of devices. What they ask for, and who may say that they have it, depends on
// namespaces and roles, which the rules of kinds know nothing of.
const deviceGroup = "resource.k8s.io"

// deviceAccess returns what is wrong with a claim of devices, or with its status, that only others can tell.
func (w *writing) deviceAccess(ctx context.Context) (field.ErrorList, error) {
	if w.Endpoint.Kind.Group != deviceGroup {
		return nil, nil
	}
	isStatus := w.Endpoint.Subresource == status
	place := w.adminPlace(isStatus)
	if place == nil {
		return w.bindingErrors(isStatus), nil
	}
	allowed, err := w.hasAdminAccess(ctx)
	if err != nil || allowed {
		return w.bindingErrors(isStatus), err
	}
	detail := fmt.Sprintf("admin access to devices requires the `%s: true` label on the containing namespace", resourcev1.DRAAdminNamespaceLabelKey)
	return append(field.ErrorList{field.Forbidden(place, detail)}, w.bindingErrors(isStatus)...), nil
}

// adminPlace returns where somebody asks for devices that others use, or gets them; nil if nobody does. What is there
// already is not asked about again.
func (w *writing) adminPlace(isStatus bool) *field.Path {
	switch doc := w.after.Document; {
	case isStatus:
		results := []string{"status", "allocation", "devices", "results"}
		if firstAdmin(w.stored.Lookup(results...), "") >= 0 {
			return nil
		}
		return adminAt(firstAdmin(doc.Lookup(results...), ""), results...)
	case w.live != nil:
		return nil
	case w.Endpoint.Kind.Name == "ResourceClaim":
		return adminAt(firstAdmin(doc.Lookup("spec", "devices", "requests"), "exactly"), "spec", "devices", "requests")
	case w.Endpoint.Kind.Name == "ResourceClaimTemplate":
		return adminAt(firstAdmin(doc.Lookup("spec", "spec", "devices", "requests"), "exactly"), "spec", "devices", "requests")
	}
	return nil
}

// firstAdmin returns the number of the first item that has adminAccess, or has it in a field; -1 if there is none.
func firstAdmin(list document.Value, in string) int {
	for i, item := range list.Items() {
		if in != "" {
			item = item.Get(in)
		}
		if item.Get("adminAccess").Bool() {
			return i
		}
	}
	return -1
}

func adminAt(i int, path ...string) *field.Path {
	if i < 0 {
		return nil
	}
	return field.NewPath(path[0], path[1:]...).Index(i).Child("adminAccess")
}

// hasAdminAccess reports whether claims in the namespace may have devices that others use. One that is not there is
// told of later.
func (w *writing) hasAdminAccess(ctx context.Context) (bool, error) {
	there, err := w.all.Cache.Get(ctx, cache.Key{Kind: namespaces, Name: w.Namespace}, cache.Any)
	if errors.Is(err, store.ErrNotFound) {
		return true, nil
	}
	if err != nil {
		return false, StoreError(err)
	}
	parsed, err := w.all.parsed(there)
	if err != nil {
		return false, StoreError(err)
	}
	return parsed.Document.Lookup("metadata", "labels", resourcev1.DRAAdminNamespaceLabelKey).Text() == "true", nil
}

// bindingErrors refuses changes of a claim's status by who may write the status, and yet not this part of it: to bind a
// claim is one matter, to report on the devices of a driver another.
func (w *writing) bindingErrors(isStatus bool) (errs field.ErrorList) {
	if !isStatus || w.MayAlso == nil {
		return nil
	}
	now, old := w.after.Document.Get("status"), w.stored.Get("status")
	if !document.Equal(now.Get("allocation"), old.Get("allocation")) || !document.Equal(now.Get("reservedFor"), old.Get("reservedFor")) {
		verb, err := w.MayAlso(Deed{Subresource: resourcev1.SubresourceBinding})
		if err != nil {
			errs = append(errs, field.Forbidden(field.NewPath("status", "allocation"),
				fmt.Sprintf("changing status.allocation or status.reservedFor requires resource=\"resourceclaims/binding\", verb=\"%s\" permission: %v", verb, err)))
		}
	}
	if now.Get("allocation").IsAbsent() {
		return errs // nobody reports any more
	}
	for _, driver := range changedDrivers(now.Get("devices"), old.Get("devices")) {
		errs = append(errs, w.driverErrors(driver, now.Get("allocation"))...)
	}
	return errs
}

// driverErrors asks whether the user may report on the devices of a driver: on those of the node that it runs on, or on
// those of any node.
func (w *writing) driverErrors(driver string, allocation document.Value) field.ErrorList {
	prefixes := []string{resourcev1.VerbPrefixArbitraryNode}
	if node := allocatedNode(allocation); node != "" && w.runsOn(node) {
		prefixes = []string{resourcev1.VerbPrefixAssociatedNode, resourcev1.VerbPrefixArbitraryNode}
	}
	var first error
	var verbs []string
	for _, prefix := range prefixes {
		verb, err := w.MayAlso(Deed{VerbPrefix: prefix, Subresource: resourcev1.SubresourceDriver, Namespace: w.Namespace, Name: driver})
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

// runsOn reports whether the user is a service account whose token was made for a pod on the node.
func (w *writing) runsOn(node string) bool {
	const nodeName = "authentication.kubernetes.io/node-name"
	names := w.User.Extra[nodeName]
	return strings.HasPrefix(w.User.Name, "system:serviceaccount:") && len(names) == 1 && names[0] == node
}

// allocatedNode returns the node that a claim is allocated on; "" if it is not the only one.
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

// changedDrivers returns the drivers of devices whose status is new, gone or another one, in order.
func changedDrivers(now, old document.Value) []string {
	var drivers []string
	collect := func(from, other document.Value) {
		for _, device := range from.Items() {
			if !hasItem(other, device) {
				drivers = append(drivers, device.Get("driver").Text())
			}
		}
	}
	collect(now, old)
	collect(old, now)
	slices.Sort(drivers)
	return slices.Compact(drivers)
}

func hasItem(list, item document.Value) bool {
	for _, other := range list.Items() {
		if document.Equal(item, other) {
			return true
		}
	}
	return false
}
