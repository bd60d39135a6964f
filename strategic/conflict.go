package strategic

import (
	"github.com/cadastre/cadastre/document"
)

// ConflictError is the error for a three-way patch that would overwrite a change that another writer made since the
// last apply.
type ConflictError struct {
	// Path is the path of the first conflicting field, such as .spec.replicas.
	Path string
	// Wanted is the value in the patch, Changed the value that the other writer set; null means that the field is
	// removed.
	Wanted, Changed document.Value
}

func (e *ConflictError) Error() string {
	return e.Path + ": another writer changed the value to " + show(e.Changed) + ", the patch would change it to " + show(e.Wanted) +
		"; apply the changed value, or overwrite it"
}

// conflict returns the first field that two patches of one map change differently, nil if there is none.
func conflict(t *Type, patch, otherPatch document.Value) *ConflictError {
	a, b := patch.Get(patchDirective), otherPatch.Get(patchDirective)
	if !document.Equal(a, b) {
		return &ConflictError{Wanted: patch, Changed: otherPatch}
	}
	for name, value := range patch.Fields() {
		if isDirective(name) {
			continue
		}
		other := otherPatch.Get(name)
		if other.IsAbsent() {
			continue
		}
		if c := fieldConflict(t.field(name), value, other); c != nil {
			c.Path = "." + name + c.Path
			return c
		}
	}
	return nil
}

// fieldConflict returns the first conflict between two patches of one field, nil if there is none; see conflict.
func fieldConflict(f *field, patch, otherPatch document.Value) *ConflictError {
	switch kind := patch.Kind(); {
	case kind == document.Map && otherPatch.Kind() == document.Map && !f.replace:
		return conflict(f.typ, patch, otherPatch)
	case kind == document.List && otherPatch.Kind() == document.List && f.merge && f.key != "":
		return itemConflict(f, patch, otherPatch)
	case kind == document.List && otherPatch.Kind() == document.List && f.merge:
		return nil // lists of scalars do not conflict, because merging keeps the items of both patches
	}
	if document.Equal(patch, otherPatch) {
		return nil
	}
	return &ConflictError{Wanted: patch, Changed: otherPatch}
}

// itemConflict returns the first conflict between the items with equal merge keys in two patches of one list, nil if
// there is none.
func itemConflict(f *field, patch, otherPatch document.Value) *ConflictError {
	var memory scratch
	ids := memory.identities(otherPatch.Len())
	for _, item := range otherPatch.Items() {
		ids.add(identify(item.Get(f.key)))
	}
	for _, item := range patch.Items() {
		position := ids.find(identify(item.Get(f.key)))
		if position < 0 {
			continue
		}
		if c := conflict(f.typ, item, otherPatch.At(position)); c != nil {
			c.Path = keyStep(f.key, item.Get(f.key)) + c.Path
			return c
		}
	}
	return nil
}
