package ownership

import (
	"errors"
	"fmt"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/fieldset"
)

// KubectlManager is the default field manager of kubectl apply --server-side.
const KubectlManager = "kubectl"

// clientSideApplyManager is the default field manager of kubectl's client-side apply.
const clientSideApplyManager = "kubectl-client-side-apply"

// Migration selects the managed fields entries that lose their fields, and the field manager that receives them.
type Migration struct {
	// From selects the entries that lose their fields. Nil means [ClientSideApply].
	From []Selector
	// To is the field manager of Server-Side Apply that receives the fields. It is required.
	To string
	// Subresource is the subresource of the receiving entry, "" for the resource itself.
	Subresource string
	// KeepLastApplied preserves the last-applied annotation of client-side apply; see [LastAppliedManager].
	KeepLastApplied bool
}

// ClientSideApply returns selectors of the Update entries of kubectl's client-side apply and of [apply.BeforeFirstApply].
func ClientSideApply() []Selector {
	return []Selector{
		{Manager: clientSideApplyManager, Operation: apply.Update},
		{Manager: apply.BeforeFirstApply, Operation: apply.Update},
	}
}

// Migrate moves all fields of the entries that the migration selects to the Apply entry of another field manager, the
// applier, and removes the selected entries. The next apply of the applier then prunes fields that are missing in its
// configuration. Values do not change. Entries of the status subresource are never changed.
//
// If the entries have different versions, the object must be at the version of the applier's entry; otherwise Migrate
// returns an [*OtherVersionError].
func Migrate(o apply.Object, m Migration) (Result, error) {
	if m.From == nil {
		m.From = ClientSideApply()
	}
	if err := m.check(); err != nil {
		return Result{}, err
	}
	result, err := ownerChange{
		releasedFields: func(e apply.Entry, owned fieldset.Set) (fieldset.Set, bool) { return owned, anySelects(m.From, e) },
		receiver:       &Selector{Manager: m.To, Operation: apply.Apply, Subresource: m.Subresource},
	}.apply(o)
	if err != nil || !m.KeepLastApplied {
		return result, err
	}
	return addLastAppliedEntry(o, result)
}

// check returns an error if the name of the receiving or of a releasing manager is empty, or if a subresource is invalid.
func (m Migration) check() error {
	if m.To == "" {
		return errors.New("migrate: Migration.To must be set to the manager that receives the fields")
	}
	if m.Subresource == AnySubresource {
		return fmt.Errorf("migrate: expected one subresource for manager %q, received *; set Migration.Subresource", m.To)
	}
	to := Selector{Manager: m.To, Operation: apply.Apply, Subresource: m.Subresource}
	for _, s := range append([]Selector{to}, m.From...) {
		switch {
		case s.Manager == "":
			return errors.New("migrate: expected the names of the managers that lose their fields, received an empty name")
		case s.Subresource == statusSubresource:
			return fmt.Errorf("migrate: %s: expected a subresource other than status, which reports observed state", s)
		}
	}
	return nil
}
