package ownership

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/fieldset"
)

// Release removes the fields at or below the given paths from the managed fields entries that from selects. Values do not
// change: a field without owners keeps its value until it is written. If the configuration of a field manager contains a
// released field, its next apply makes it an owner of the field again. Release returns a [*NotOwnedError] if, for one of the
// paths, no selected entry owns a field at or below it.
func Release(o apply.Object, from Selector, paths ...fieldset.Path) (Result, error) {
	return moveFields(o, from, nil, paths)
}

// Transfer moves the ownership of the fields at or below the given paths. It moves them from the managed fields entries that
// from selects to the entry that to selects, which it adds if that entry does not exist. The default of to.Operation is
// Apply. Values do not change. Transfer returns a [*NotOwnedError] if, for one of the paths, neither a selected entry nor the
// receiving entry owns a field at or below it. It returns an [*OtherVersionError] if the entries have different API versions
// and the object is not at the version of the receiving entry.
func Transfer(o apply.Object, from, to Selector, paths ...fieldset.Path) (Result, error) {
	switch {
	case to.Manager == "":
		return Result{}, errors.New("transfer: to.Manager must be set to the manager that receives the fields")
	case to.Subresource == AnySubresource:
		return Result{}, fmt.Errorf("transfer: expected one subresource for manager %q, received *", to.Manager)
	case to.Operation == "":
		to.Operation = apply.Apply
	}
	return moveFields(o, from, &to, paths)
}

// moveFields implements Release and Transfer: it removes the fields at or below the paths from the entries that from selects,
// and adds them to the entry that to selects, unless to is nil.
func moveFields(o apply.Object, from Selector, to *Selector, paths []fieldset.Path) (Result, error) {
	if slices.ContainsFunc(paths, func(p fieldset.Path) bool { return len(p) == 0 }) || len(paths) == 0 {
		return Result{}, errors.New("expected the path of a field, received none")
	}
	if err := checkOwned(o, from, to, paths); err != nil {
		return Result{}, err
	}
	selected := fieldset.New(paths...)
	return ownerChange{
		releasedFields: func(e apply.Entry, owned fieldset.Set) (fieldset.Set, bool) {
			released := owned.Covered(selected)
			return released, from.Selects(e) && !released.IsEmpty()
		},
		receiver: to,
	}.apply(o)
}

// NotOwnedError is returned if a field to release or transfer is not owned by the selected managers.
type NotOwnedError struct {
	// Path is the path of the field.
	Path fieldset.Path
	// From is the selector that selects no managed fields entry that owns the field.
	From Selector
	// Owners are the managed fields entries that own the field or a field below it.
	Owners []apply.Entry
	// Exists reports whether From selects any entry of the object.
	Exists bool
	// Managers are all managed fields entries of the object.
	Managers []apply.Entry
	// Whole are the entries that own, as a whole, the value at WholePath, which contains the field.
	Whole     []apply.Entry
	WholePath fieldset.Path
}

func (e *NotOwnedError) Error() string {
	path := strings.TrimPrefix(e.Path.Quoted(), ".")
	switch {
	case len(e.Managers) == 0:
		return path + ": expected an owned field, received an object without managedFields entries"
	case !e.Exists && e.From.Manager != "":
		return fmt.Sprintf("%s: %s owns no field of this object; its managers are %s", path, e.From, describeManagers(e.Managers))
	case len(e.Whole) > 0:
		return fmt.Sprintf("%s: the field is part of %s, which is owned as a whole by %s; use that path",
			path, strings.TrimPrefix(e.WholePath.Quoted(), "."), describeManagers(e.Whole))
	case len(e.Owners) > 0 && e.From.Manager == "":
		return fmt.Sprintf("%s: no manager%s owns it; its owners are %s", path, e.From.scope(), describeManagers(e.Owners))
	case len(e.Owners) > 0:
		return fmt.Sprintf("%s: %s does not own it; its owners are %s", path, e.From, describeManagers(e.Owners))
	case untrackedFields.Has(e.Path):
		return path + ": managedFields does not track this field, because it identifies the object or the server maintains it"
	case e.From.Manager == "":
		return path + ": the field has no owner"
	}
	return fmt.Sprintf("%s: %s does not own it; the field has no owner", path, e.From)
}

// checkOwned returns nil if, for each path, an entry that from or to selects owns a field at or below the path. Otherwise it
// returns a *NotOwnedError for the first other path.
func checkOwned(o apply.Object, from Selector, to *Selector, paths []fieldset.Path) error {
	exists := slices.ContainsFunc(o.Entries, from.Selects)
	for _, path := range paths {
		owners, err := Owners(o, path)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(owners, from.Selects) || to != nil && slices.ContainsFunc(owners, to.Selects) {
			continue
		}
		problem := &NotOwnedError{Path: path, From: from, Owners: owners, Exists: exists, Managers: o.Entries}
		for n := len(path) - 1; n > 0 && len(problem.Whole) == 0; n-- {
			if problem.Whole, err = atomicOwners(o, path[:n]); err != nil {
				return err
			}
			problem.WholePath = path[:n]
		}
		return problem
	}
	return nil
}

// atomicOwners returns the managed fields entries that own a non-empty map or list at a path as a whole, which means that
// they own no field below it.
func atomicOwners(o apply.Object, path fieldset.Path) ([]apply.Entry, error) {
	var owners []apply.Entry
	for i, e := range o.Entries {
		set, err := decodeFields(o.Entries, i)
		if err != nil {
			return nil, err
		}
		if set.Has(path) && set.Covered(fieldset.New(path)).Size() == 1 && ValueAt(o.Document, path).Len() > 0 {
			owners = append(owners, e)
		}
	}
	return owners, nil
}

// Owners returns the managed fields entries that own the field at a path or a field below it. It returns an
// [*apply.EntryError] if a field set cannot be decoded.
func Owners(o apply.Object, path fieldset.Path) ([]apply.Entry, error) {
	var owners []apply.Entry
	at := fieldset.New(path)
	for i, e := range o.Entries {
		set, err := decodeFields(o.Entries, i)
		if err != nil {
			return nil, err
		}
		if !set.Covered(at).IsEmpty() {
			owners = append(owners, e)
		}
	}
	return owners, nil
}
