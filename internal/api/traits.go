package api

import (
	"strings"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/builtin/kinds"
)

// Traits are settings of a kind for update and delete, all off by default. traitNames maps their names in kind files to the
// fields.
type Traits struct {
	// AllowCreateOnUpdate makes PUT create an object that does not exist.
	AllowCreateOnUpdate bool
	// RequireResourceVersion makes PUT require a resourceVersion: unconditional updates are rejected.
	RequireResourceVersion bool
	// OrphanDependents makes deletions without a propagation policy orphan dependents.
	OrphanDependents bool
	// NoGarbageCollection makes deletions ignore the propagation policy, because objects of the kind have no dependents.
	NoGarbageCollection bool
	// Graceful enables graceful deletion; see GracePeriod.
	Graceful bool
	// NoDeleteCollection disables the verb deletecollection.
	NoDeleteCollection bool
	// ReturnDeletedObject makes deletions return the object instead of a Status.
	ReturnDeletedObject bool
	// ContainsObjects retains an object that is being deleted until spec.finalizers is empty. It is set for namespaces, which
	// are removed only after the objects inside them.
	ContainsObjects bool
	// ValidateRequestVersion makes writes validate the object at the version of the request instead of the storage version.
	ValidateRequestVersion bool
}

// traitNames maps the names of traits in kind files to the fields of Traits. The trait kinds.Review is accepted but has no
// field, because only package builtin uses it.
var traitNames = []struct {
	name  string
	field func(t *Traits) *bool
}{
	{"allow-create-on-update", func(t *Traits) *bool { return &t.AllowCreateOnUpdate }},
	{"require-resource-version", func(t *Traits) *bool { return &t.RequireResourceVersion }},
	{"orphan-dependents-by-default", func(t *Traits) *bool { return &t.OrphanDependents }},
	{"no-garbage-collection", func(t *Traits) *bool { return &t.NoGarbageCollection }},
	{"graceful-deletion", func(t *Traits) *bool { return &t.Graceful }},
	{"no-delete-collection", func(t *Traits) *bool { return &t.NoDeleteCollection }},
	{"return-deleted-object", func(t *Traits) *bool { return &t.ReturnDeletedObject }},
	{"contains-objects", func(t *Traits) *bool { return &t.ContainsObjects }},
	{"validate-request-version", func(t *Traits) *bool { return &t.ValidateRequestVersion }},
	{kinds.Review, func(t *Traits) *bool { return new(bool) }},
}

// setTraits sets the traits that the property lists by name.
func (k *Kind) setTraits(words []string, _ string) error {
	for _, word := range words {
		found := false
		var names []string
		for _, trait := range traitNames {
			if names = append(names, trait.name); trait.name == word {
				*trait.field(&k.Traits), found = true, true
			}
		}
		if !found {
			return errExpected(strings.Join(names, ", "), word)
		}
	}
	return nil
}

// GracePeriod returns the grace period of a deletion in seconds: the requested period, or, if isRequested is false,
// spec.terminationGracePeriodSeconds of the live object. It returns 0, which deletes the object immediately, if the kind
// has no graceful deletion, or if the pod is not scheduled or has terminated.
func (k *Kind) GracePeriod(live document.Value, requested int64, isRequested bool) int64 {
	if !k.Graceful || live.Lookup("spec", "nodeName").Text() == "" {
		return 0
	}
	if phase := live.Lookup("status", "phase").Text(); phase == "Failed" || phase == "Succeeded" {
		return 0
	}
	if !isRequested {
		requested, _ = live.Lookup("spec", "terminationGracePeriodSeconds").Int64()
	}
	if requested < 0 {
		return 1
	}
	return requested
}
