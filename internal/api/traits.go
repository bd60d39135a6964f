package api

import (
	"strings"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/builtin/kinds"
)

// Traits are the ways in which writing and deleting objects of a kind differs from the usual. Their names in kind files
// stand in traitNames.
type Traits struct {
	// PutCreates makes PUT create an object that does not exist.
	PutCreates bool
	// PutVersioned makes PUT require a resourceVersion: unconditional updates are rejected.
	PutVersioned bool
	// Orphans makes deletions without a propagation policy orphan dependents.
	Orphans bool
	// Childless makes deletions ignore the propagation policy: there are no dependents.
	Childless bool
	// Graceful enables graceful deletion; see GracePeriod.
	Graceful bool
	// Singly rejects the deletion of collections.
	Singly bool
	// ShowsDeleted makes deletions return the object instead of a Status.
	ShowsDeleted bool
	// Contains keeps an object that is being deleted until spec.finalizers is empty: it contains other objects, which are
	// deleted first.
	Contains bool
	// CheckedAsSent validates an object at the version of the request instead of the storage version.
	CheckedAsSent bool
}

// traitNames lists the names of traits in kind files.
var traitNames = []struct {
	name string
	of   func(t *Traits) *bool
}{
	{"allow-create-on-update", func(t *Traits) *bool { return &t.PutCreates }},
	{"require-resource-version", func(t *Traits) *bool { return &t.PutVersioned }},
	{"orphan-dependents-by-default", func(t *Traits) *bool { return &t.Orphans }},
	{"no-garbage-collection", func(t *Traits) *bool { return &t.Childless }},
	{"graceful-deletion", func(t *Traits) *bool { return &t.Graceful }},
	{"no-delete-collection", func(t *Traits) *bool { return &t.Singly }},
	{"return-deleted-object", func(t *Traits) *bool { return &t.ShowsDeleted }},
	{"contains-objects", func(t *Traits) *bool { return &t.Contains }},
	{"validate-request-version", func(t *Traits) *bool { return &t.CheckedAsSent }},
	{kinds.Review, func(t *Traits) *bool { return new(bool) }},
}

// setTraits reads the names of traits.
func (k *Kind) setTraits(words []string, _ string) error {
	for _, word := range words {
		found := false
		var names []string
		for _, trait := range traitNames {
			if names = append(names, trait.name); trait.name == word {
				*trait.of(&k.Traits), found = true, true
			}
		}
		if !found {
			return errExpected(strings.Join(names, ", "), word)
		}
	}
	return nil
}

// GracePeriod returns the number of seconds that a deletion leaves to an object: the requested ones, or else those of the
// object's spec, but 0 if the object is not running. An object with 0 is deleted at once.
func (k *Kind) GracePeriod(live document.Value, asked int64, isAsked bool) int64 {
	if !k.Graceful || live.Lookup("spec", "nodeName").Text() == "" {
		return 0
	}
	if phase := live.Lookup("status", "phase").Text(); phase == "Failed" || phase == "Succeeded" {
		return 0
	}
	if !isAsked {
		asked, _ = live.Lookup("spec", "terminationGracePeriodSeconds").Int64()
	}
	if asked < 0 {
		return 1
	}
	return asked
}
