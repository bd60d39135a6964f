package strategic

import (
	"strings"

	"github.com/cadastre/cadastre/document"
)

// ThreeWay computes patches as kubectl apply does, from the last applied, the new and the live configuration.
type ThreeWay struct {
	// Type has the patch strategies of the kind. If it is nil, patches are JSON merge patches.
	Type *Type
	// Overwrite allows the patch to overwrite changes by other writers. Without it they are a [*ConflictError].
	Overwrite bool
	// Immutable are the fields that a patch must not change, such as metadata.name; see [KubectlImmutable].
	Immutable []string
}

// KubectlImmutable returns the fields that kubectl apply refuses to change.
func KubectlImmutable() []string { return []string{"apiVersion", "kind", "metadata.name"} }

// Diff returns a patch from the live object (current) to the new configuration (modified), which also removes what the
// last applied configuration (original, may be absent) had and the new one lacks. Other fields are left unchanged. If
// nothing changes, the patch is an empty map. Errors are of type [*Error] or [*ConflictError].
func (w ThreeWay) Diff(original, modified, current document.Value) (document.Value, error) {
	d := newDiffer()
	defer d.free()
	return w.diff(d, versions{original, current, modified})
}

func (w ThreeWay) diff(d *differ, v versions) (document.Value, error) {
	patch, err := d.diffRoot(w.Type, v)
	if err != nil {
		return document.Value{}, err
	}
	for _, path := range w.Immutable {
		if value := patch.Lookup(strings.Split(path, ".")...); !value.IsAbsent() {
			return document.Value{}, under(unprocessable("this field not to change", describe(value),
				"it can't be changed by a patch: make another object"), "."+path)
		}
	}
	if w.Overwrite {
		return patch, nil
	}
	changed, err := d.diffRoot(w.Type, versions{v.original, v.original, v.current})
	if err != nil {
		return document.Value{}, err
	}
	if c := conflict(w.Type, patch, changed); c != nil {
		return document.Value{}, c
	}
	return patch, nil
}
