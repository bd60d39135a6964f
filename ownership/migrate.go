package ownership

import (
	"errors"
	"fmt"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/fieldset"
)

// KubectlManager is the default field manager of kubectl apply --server-side.
const KubectlManager = "kubectl"

// clientSideApplyManager is the name that kubectl has when it applies client-side, unless it is told another one.
const clientSideApplyManager = "kubectl-client-side-apply"

// Migration describes which fields an applier takes over.
type Migration struct {
	// From are the managers that lose their fields; nil means [ClientSideApply].
	From []Selector
	// To is the field manager that applies. It is required.
	To string
	// Subresource is the subresource to which it applies, "" for the resource itself.
	Subresource string
	// KeepLastApplied preserves the annotation of client-side apply; see [LastAppliedManager].
	KeepLastApplied bool
}

// ClientSideApply selects the entries of kubectl's client-side apply: its own manager, and the one that owns the
// fields from before managedFields existed.
func ClientSideApply() []Selector {
	return []Selector{
		{Manager: clientSideApplyManager, Operation: apply.Update},
		{Manager: apply.BeforeFirstApply, Operation: apply.Update},
	}
}

// Migrate transfers all fields of other managers to an applier and removes their entries, so that fields which the
// applier leaves out of its configuration are removed with its next apply. Values do not change. Entries of the status
// subresource are never changed.
//
// If fields of several versions are combined, the object must be at the version of the applier's entry; otherwise
// Migrate returns an [*OtherVersionError].
func Migrate(o apply.Object, m Migration) (Result, error) {
	if m.From == nil {
		m.From = ClientSideApply()
	}
	if err := m.check(); err != nil {
		return Result{}, err
	}
	result, err := ownerChange{
		released: func(e apply.Entry, owned fieldset.Set) (fieldset.Set, bool) { return owned, anySelects(m.From, e) },
		receiver: &Selector{Manager: m.To, Operation: apply.Apply, Subresource: m.Subresource},
	}.apply(o)
	if err != nil || !m.KeepLastApplied {
		return result, err
	}
	return addLastAppliedEntry(o, result)
}

func (m Migration) check() error {
	if m.To == "" {
		return errors.New("migrate: expected the name of the manager that gets the fields, received none")
	}
	if m.Subresource == AnySubresource {
		return fmt.Errorf("migrate: expected one endpoint for %q to apply to, received any", m.To)
	}
	to := Selector{Manager: m.To, Operation: apply.Apply, Subresource: m.Subresource}
	for _, s := range append([]Selector{to}, m.From...) {
		switch {
		case s.Manager == "":
			return errors.New("migrate: expected the names of the managers that give their fields up, received none")
		case s.Subresource == statusSubresource:
			return fmt.Errorf("migrate: %s: expected another endpoint: status says what somebody saw, not what somebody wants", s)
		}
	}
	return nil
}
