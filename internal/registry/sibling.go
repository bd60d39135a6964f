package objects

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/rules"
)

// warnOfSiblings tells an applier of fields that are there beside one that was applied, and exclude it:
// no field has two values, so that this is no conflict. Mostly the object is refused, for reasons that
// don't say whose the other field is.
func (w *writing) warnOfSiblings(config document.Value) {
	for _, c := range w.Endpoint.oneOfs().Clashes(config, w.after.Document) {
		w.Warn(w.siblingText(c))
	}
}

func (w *writing) siblingText(c rules.Clash) string {
	owners := ownersOf(w.after.Entries, slices.Concat(c.Path, fieldset.Names(c.Sibling)))
	owned, force := "which nobody owns", ""
	if len(owners) > 0 {
		owned = "owned by " + strings.Join(owners, " and ")
		if w.all.Unset || c.Discriminator == c.Sibling {
			force = ", by force"
		}
	}
	switch {
	case c.Discriminator == "":
		return fmt.Sprintf("%s: %s was applied, and %s is there, too, %s; only one of them may be set; %s%s",
			c.Path, c.Applied, c.Sibling, owned, w.removal(c), force)
	case c.Discriminator == c.Applied:
		return fmt.Sprintf("%s: %s was applied, and %s is there, %s, which goes only with %s %s; %s%s",
			c.Path, c.Applied, c.Sibling, owned, c.Discriminator, c.Value, w.removal(c), force)
	}
	return fmt.Sprintf("%s: %s was applied, which goes only with %s %s, and %s is another, %s; apply %s: %s as well%s",
		c.Path, c.Applied, c.Discriminator, c.Value, c.Sibling, owned, c.Discriminator, c.Value, force)
}

// removal says how to remove a sibling.
func (w *writing) removal(c rules.Clash) string {
	if !w.all.Unset {
		return "remove " + c.Sibling + " by a patch"
	}
	return fmt.Sprintf("to remove %s, apply %s: {%s: %s} beside %s", c.Sibling, c.Sibling, apply.MarkerKey, apply.MarkerValue, c.Applied)
}

// ownersOf names those who own a field, or something in it.
func ownersOf(entries []apply.Entry, path fieldset.Path) (owners []string) {
	for _, entry := range entries {
		fields, err := entry.Fields()
		if err != nil {
			continue // which only means that it can't be told
		}
		if fields.Has(path) || !fields.At(path).IsEmpty() {
			owners = append(owners, ownerText(entry))
		}
	}
	return owners
}
