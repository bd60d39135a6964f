package ownership

import (
	"errors"
	"fmt"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/fieldset"
)

// Kubectl is the name that kubectl applies with, unless it is told another one.
const Kubectl = "kubectl"

// clientSideApply is the name that kubectl has when it applies client-side, unless it is told another one.
const clientSideApply = "kubectl-client-side-apply"

// Migration says whose fields an applier takes over.
type Migration struct {
	// From are the managers that wrote before; nil means [ClientSideApply].
	From []Selector
	// To is the name of the applier. It is required.
	To string
	// Subresource is the endpoint that it applies to, "" for the main one.
	Subresource string
	// KeepLastApplied has the annotation of client-side apply stay, if it moves: see [LastAppliedKeeper].
	KeepLastApplied bool
}

// ClientSideApply is how kubectl apply without --server-side writes: as a manager of its own, and before
// there were managers as the one that everything belonged to when somebody applied first.
func ClientSideApply() []Selector {
	return []Selector{
		{Manager: clientSideApply, Operation: apply.Update},
		{Manager: apply.BeforeFirstApply, Operation: apply.Update},
	}
}

// Migrate has an applier take over all fields of other managers, whose entries are gone then. Afterwards
// what the applier leaves out of its configuration is removed, which it would not be while its former self
// owned it. Values stay as they are.
//
// If fields of several versions come together, the object has to be at the version of the applier's entry; an
// *OtherVersionError says which that is.
//
// Entries of the endpoint status are never touched: they say what somebody saw, not what somebody wants.
func Migrate(o apply.Object, m Migration) (Result, error) {
	if m.From == nil {
		m.From = ClientSideApply()
	}
	if err := m.check(); err != nil {
		return Result{}, err
	}
	result, err := change{
		gives: func(e apply.Entry, owned fieldset.Set) (fieldset.Set, bool) { return owned, anySelects(m.From, e) },
		to:    &Selector{Manager: m.To, Operation: apply.Apply, Subresource: m.Subresource},
	}.apply(o)
	if err != nil || !m.KeepLastApplied {
		return result, err
	}
	return keepLastApplied(o, result)
}

func (m Migration) check() error {
	if m.To == "" {
		return errors.New("migrate: expected the name of the manager that gets the fields, received none")
	}
	if m.Subresource == AnyEndpoint {
		return fmt.Errorf("migrate: expected one endpoint for %q to apply to, received any", m.To)
	}
	to := Selector{Manager: m.To, Operation: apply.Apply, Subresource: m.Subresource}
	for _, s := range append([]Selector{to}, m.From...) {
		switch {
		case s.Manager == "":
			return errors.New("migrate: expected the names of the managers that give their fields up, received none")
		case s.Subresource == status:
			return fmt.Errorf("migrate: %s: expected another endpoint: status says what somebody saw, not what somebody wants", s)
		}
	}
	return nil
}
