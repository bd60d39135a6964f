package garbagecollector

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// reference is a parsed owner reference.
type reference struct {
	apiVersion, kind, name, uid string
	// blocks is the field blockOwnerDeletion: if it is true, a foreground deletion of the owner waits for the dependent.
	blocks bool
}

// references returns the ownerReferences of an object. It returns nil if the object is nil, or if the ownerReferences cannot
// be parsed: the collector then does not delete the object.
func references(object *watchcache.Object) []reference {
	if object == nil {
		return nil
	}
	return parseReferences(object.OwnerReferences())
}

// parseReferences parses the JSON of metadata.ownerReferences. It returns nil if list is empty or invalid.
func parseReferences(list string) []reference {
	if list == "" {
		return nil
	}
	parsed, err := document.ParseJSON(list)
	if err != nil {
		return nil
	}
	found := make([]reference, 0, parsed.Len())
	for _, item := range parsed.Items() {
		found = append(found, reference{
			apiVersion: item.Get("apiVersion").Text(), kind: item.Get("kind").Text(),
			name: item.Get("name").Text(), uid: item.Get("uid").Text(),
			blocks: item.Get("blockOwnerDeletion").Bool(),
		})
	}
	return found
}

func (r reference) groupVersion() (schema.GroupVersion, error) {
	return schema.ParseGroupVersion(r.apiVersion)
}

// withoutOwners removes the ownerReferences with the UIDs from a list. It returns null if the list would be empty.
func withoutOwners(list document.Value, uids []string) document.Value {
	var kept []document.Value
	for _, item := range list.Items() {
		if !slices.Contains(uids, item.Get("uid").Text()) {
			kept = append(kept, item)
		}
	}
	if len(kept) == 0 {
		return document.NewNull()
	}
	return document.NewList(kept...)
}

// withoutBlocking sets blockOwnerDeletion to false in all ownerReferences of a list in which it is true.
func withoutBlocking(list document.Value) document.Value {
	var items []document.Value
	for _, item := range list.Items() {
		if item.Get("blockOwnerDeletion").Bool() {
			item = item.With("blockOwnerDeletion", document.NewBool(false))
		}
		items = append(items, item)
	}
	return document.NewList(items...)
}
