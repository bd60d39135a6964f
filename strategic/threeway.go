package strategic

import (
	"strings"

	"github.com/cadastre/cadastre/document"
)

// ThreeWay computes three-way patches as client-side kubectl apply does, from the last applied configuration, the new
// configuration and the live object.
type ThreeWay struct {
	// Type contains the patch strategies of the kind. If it is nil, patches are JSON merge patches.
	Type *Type
	// Overwrite allows the patch to overwrite changes that other writers made since the last apply. If it is false,
	// such a change is a [*ConflictError].
	Overwrite bool
	// Immutable are the paths of fields that a patch must not change, such as metadata.name; see [KubectlImmutable].
	Immutable []string
}

// KubectlImmutable returns the paths of the fields that kubectl apply does not allow a patch to change.
func KubectlImmutable() []string { return []string{"apiVersion", "kind", "metadata.name"} }

// Diff returns a patch that sets the fields of the new configuration (modified) in the live object (current), and
// removes the fields that are in the last applied configuration (original, may be absent) but not in the new one. It
// does not change other fields. If nothing changes, the patch is an empty map. Errors are of type [*Error] or
// [*ConflictError].
func (t ThreeWay) Diff(original, modified, current document.Value) (document.Value, error) {
	d := newDiffer()
	defer d.free()
	return t.diff(d, versions{original, current, modified})
}

func (t ThreeWay) diff(d *differ, v versions) (document.Value, error) {
	patch, err := d.diffRoot(t.Type, v)
	if err != nil {
		return document.Value{}, err
	}
	for _, path := range t.Immutable {
		if value := patch.Lookup(strings.Split(path, ".")...); !value.IsAbsent() {
			return document.Value{}, prefixPath(unprocessable("an unchanged value", describe(value),
				"the field is immutable: create another object"), "."+path)
		}
	}
	if t.Overwrite {
		return patch, nil
	}
	changed, err := d.diffRoot(t.Type, versions{v.original, v.original, v.current})
	if err != nil {
		return document.Value{}, err
	}
	if c := findConflict(t.Type, patch, changed); c != nil {
		return document.Value{}, c
	}
	return patch, nil
}
