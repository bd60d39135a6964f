package garbagecollector

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// reference names an owner.
type reference struct {
	apiVersion, kind, name, uid string
	// blocks says that the owner must not go before the dependant if it is deleted in the foreground.
	blocks bool
}

// references returns those of an object. What can't be read is as if it were not there: then nothing is
// decided by it.
func references(object *watchcache.Object) []reference {
	if object == nil {
		return nil
	}
	return parseReferences(object.OwnerReferences())
}

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

// without returns a list of references without those to some owners.
func without(list document.Value, uids []string) document.Value {
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

// unblocked returns a list of references of which none blocks its owner.
func unblocked(list document.Value) document.Value {
	var items []document.Value
	for _, item := range list.Items() {
		if item.Get("blockOwnerDeletion").Bool() {
			item = item.With("blockOwnerDeletion", document.NewBool(false))
		}
		items = append(items, item)
	}
	return document.NewList(items...)
}
