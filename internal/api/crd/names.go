package crd

import (
	"fmt"
	"slices"
	"strings"
)

// takenNames are the names that the CustomResourceDefinitions of a group have accepted: names of resources (plural, singular
// and short names), and kinds (kind and list kind).
type takenNames struct{ resources, kinds map[string]bool }

func takenNamesOf(definitions []*Definition) takenNames {
	t := takenNames{map[string]bool{}, map[string]bool{}}
	for _, d := range definitions {
		n := &d.AcceptedNames
		for _, name := range append([]string{n.Plural, n.Singular}, n.ShortNames...) {
			t.resources[name] = true
		}
		t.kinds[n.Kind], t.kinds[n.ListKind] = true, true
	}
	return t
}

// acceptNames returns the accepted names of a CRD and its condition NamesAccepted. A requested name that another
// CustomResourceDefinition uses is not accepted; the previously accepted name is retained instead.
func (d *Definition) acceptNames(t takenNames) (Names, Condition) {
	accepted, problem := d.AcceptedNames, (*Condition)(nil)
	choose := func(requested, current string, taken map[string]bool, reason string) string {
		if requested == current || !taken[requested] {
			return requested
		}
		problem = &Condition{"NamesAccepted", false, reason, inUseMessage(requested)}
		return current
	}
	accepted.Plural = choose(d.RequestedNames.Plural, accepted.Plural, t.resources, "PluralConflict")
	accepted.Singular = choose(d.RequestedNames.Singular, accepted.Singular, t.resources, "SingularConflict")
	if conflicts := d.shortNameConflicts(t); len(conflicts) > 0 {
		problem = &Condition{"NamesAccepted", false, "ShortNamesConflict", aggregate(conflicts)}
	} else {
		accepted.ShortNames = d.RequestedNames.ShortNames
	}
	accepted.Kind = choose(d.RequestedNames.Kind, accepted.Kind, t.kinds, "KindConflict")
	accepted.ListKind = choose(d.RequestedNames.ListKind, accepted.ListKind, t.kinds, "ListKindConflict")
	accepted.Categories = d.RequestedNames.Categories
	if problem != nil {
		return accepted, *problem
	}
	return accepted, Condition{"NamesAccepted", true, "NoConflicts", "no conflicts found"}
}

func inUseMessage(name string) string { return fmt.Sprintf("%q is already in use", name) }

// shortNameConflicts returns a message for each requested short name that another CustomResourceDefinition uses. If one
// requested short name is used, no requested short name is accepted.
func (d *Definition) shortNameConflicts(t takenNames) (conflicts []string) {
	for _, name := range d.RequestedNames.ShortNames {
		if !slices.Contains(d.AcceptedNames.ShortNames, name) && t.resources[name] {
			conflicts = append(conflicts, inUseMessage(name))
		}
	}
	return conflicts
}

// aggregate joins texts, error messages, in the format of apimachinery's aggregate errors.
func aggregate(texts []string) string {
	if len(texts) == 1 {
		return texts[0]
	}
	return "[" + strings.Join(texts, ", ") + "]"
}
