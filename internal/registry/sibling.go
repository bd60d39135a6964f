package registry

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/api/builtin"
)

// warnOfSiblings adds a warning for each one-of clash: a live field that excludes an applied field, such as emptyDir in a
// volume to which hostPath was applied. It is not an apply conflict, because the fields differ. Validation usually rejects
// the object, but its error does not name the field manager of the excluding field.
func (w *write) warnOfSiblings(m merged, config document.Value) {
	for _, c := range w.Endpoint.oneOfs().Clashes(config, m.object.Document) {
		w.Warn(w.siblingWarning(m, c))
	}
}

// siblingWarning returns the warning about a field that excludes an applied field. The warning names the field managers of the
// excluding field and states how to remove that field.
func (w *write) siblingWarning(m merged, c builtin.Clash) string {
	owners := ownersOf(m.object.Entries, slices.Concat(c.Path, fieldset.Names(c.Sibling)))
	owned, force := "no owner", ""
	if len(owners) > 0 {
		owned = "owned by " + strings.Join(owners, " and ")
		if w.Unset || c.Discriminator == c.Sibling {
			force = ", by force"
		}
	}
	switch {
	case c.Discriminator == "":
		return fmt.Sprintf("%s: %s was applied, but %s is set, too (%s); only one of them may be set; %s%s",
			c.Path, c.Applied, c.Sibling, owned, w.removalAdvice(c), force)
	case c.Discriminator == c.Applied:
		return fmt.Sprintf("%s: %s was applied, but %s is set (%s) and requires %s %s; %s%s",
			c.Path, c.Applied, c.Sibling, owned, c.Discriminator, c.Value, w.removalAdvice(c), force)
	}
	return fmt.Sprintf("%s: %s was applied, but requires %s %s, and %s has another value (%s); apply %s: %s as well%s",
		c.Path, c.Applied, c.Discriminator, c.Value, c.Sibling, owned, c.Discriminator, c.Value, force)
}

// removalAdvice returns the part of a warning that states how to remove the field that excludes the applied field.
func (w *write) removalAdvice(c builtin.Clash) string {
	if !w.Unset {
		return "remove " + c.Sibling + " by a patch"
	}
	return fmt.Sprintf("to remove %s, apply %s: {%s: %s} beside %s", c.Sibling, c.Sibling, apply.UnsetMarkerKey, apply.UnsetMarkerValue, c.Applied)
}

// ownersOf returns descriptions of the managed fields entries that own a field, or a field inside of it.
func ownersOf(entries []apply.Entry, path fieldset.Path) (owners []string) {
	for _, entry := range entries {
		fields, err := entry.Fields()
		if err != nil {
			continue
		}
		if fields.Has(path) || !fields.At(path).IsEmpty() {
			owners = append(owners, formatOwner(entry))
		}
	}
	return owners
}
