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

// findConflict returns the first field that patch and otherPatch, two patches of one map, change differently. It
// returns nil if there is no such field.
func findConflict(t *Type, patch, otherPatch document.Value) *ConflictError {
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
		if c := findFieldConflict(t.field(name), value, other); c != nil {
			c.Path = "." + name + c.Path
			return c
		}
	}
	return nil
}

// findFieldConflict returns the first conflict between two patches of the field f, nil if they do not conflict; see
// findConflict.
func findFieldConflict(f *field, patch, otherPatch document.Value) *ConflictError {
	switch kind := patch.Kind(); {
	case kind == document.Map && otherPatch.Kind() == document.Map && !f.replace:
		return findConflict(f.typ, patch, otherPatch)
	case kind == document.List && otherPatch.Kind() == document.List && f.merge && f.key != "":
		return findItemConflict(f, patch, otherPatch)
	case kind == document.List && otherPatch.Kind() == document.List && f.merge:
		return nil // lists of scalars do not conflict, because merging keeps the items of both patches
	}
	if document.Equal(patch, otherPatch) {
		return nil
	}
	return &ConflictError{Wanted: patch, Changed: otherPatch}
}

// findItemConflict returns the first conflict between two patches of the list f: between items with equal merge keys.
// It returns nil if the patches do not conflict.
func findItemConflict(f *field, patch, otherPatch document.Value) *ConflictError {
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
		if c := findConflict(f.typ, item, otherPatch.At(position)); c != nil {
			c.Path = keyStep(f.key, item.Get(f.key)) + c.Path
			return c
		}
	}
	return nil
}
