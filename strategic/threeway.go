package strategic

import (
	"strings"

	"github.com/cadastre/cadastre/document"
)

// ThreeWay makes the patches of those who keep what they want outside of the server, as kubectl
// apply does: what they want now is compared with what is there, and with what they wanted the
// last time.
type ThreeWay struct {
	// Type has the strategies of the kind. Without it, patches are JSON merge patches.
	Type *Type
	// Overwrite allows a patch to change what somebody else changed since the last time.
	// Without it that is a [*ConflictError].
	Overwrite bool
	// Fixed are fields that a patch must not change, by their names with dots between them,
	// such as metadata.name. Kubectl fixes [KubectlFixed].
	Fixed []string
}

// KubectlFixed are the fields that kubectl apply refuses to change.
func KubectlFixed() []string { return []string{"apiVersion", "kind", "metadata.name"} }

// Diff makes a patch that takes an object from what it is now (current) to what its author
// wants (modified), where the author wanted something else before (original, which may be
// absent). What the author never had an opinion about is left alone. If there is nothing to
// change, the patch is an empty map. Errors are of type [*Error] or [*ConflictError].
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
	for _, fixed := range w.Fixed {
		if value := patch.Lookup(strings.Split(fixed, ".")...); !value.IsAbsent() {
			return document.Value{}, under(unprocessable("this field not to change", describe(value),
				"it can't be changed by a patch: make another object"), "."+fixed)
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
