package custom

import (
	"fmt"
	"slices"
	"strings"
)

// taken are the names that the definitions of a group have got.
type taken struct{ resources, kinds map[string]bool }

func takenBy(definitions []*reading) taken {
	t := taken{map[string]bool{}, map[string]bool{}}
	for _, d := range definitions {
		n := &d.accepted
		for _, name := range append([]string{n.plural, n.singular}, n.shortNames...) {
			t.resources[name] = true
		}
		t.kinds[n.kind], t.kinds[n.listKind] = true, true
	}
	return t
}

// accept returns the names that a definition has if it gets what it asks for and nobody else has, and whether
// it gets all. A name that it can't have it does not get, and keeps the one that it had.
func (r *reading) accept(t taken) (names, condition) {
	got, problem := r.accepted, (*condition)(nil)
	choose := func(wanted, has string, among map[string]bool, reason string) string {
		if wanted == has || !among[wanted] {
			return wanted
		}
		problem = &condition{"NamesAccepted", false, reason, inUse(wanted)}
		return has
	}
	got.plural = choose(r.wanted.plural, got.plural, t.resources, "PluralConflict")
	got.singular = choose(r.wanted.singular, got.singular, t.resources, "SingularConflict")
	if conflicts := r.shortNameConflicts(t); len(conflicts) > 0 {
		problem = &condition{"NamesAccepted", false, "ShortNamesConflict", aggregate(conflicts)}
	} else {
		got.shortNames = r.wanted.shortNames
	}
	got.kind = choose(r.wanted.kind, got.kind, t.kinds, "KindConflict")
	got.listKind = choose(r.wanted.listKind, got.listKind, t.kinds, "ListKindConflict")
	got.categories = r.wanted.categories
	if problem != nil {
		return got, *problem
	}
	return got, condition{"NamesAccepted", true, "NoConflicts", "no conflicts found"}
}

func inUse(name string) string { return fmt.Sprintf("%q is already in use", name) }

// shortNameConflicts returns why the definition can't have its short names: it gets all or none.
func (r *reading) shortNameConflicts(t taken) (conflicts []string) {
	for _, name := range r.wanted.shortNames {
		if !slices.Contains(r.accepted.shortNames, name) && t.resources[name] {
			conflicts = append(conflicts, inUse(name))
		}
	}
	return conflicts
}

// aggregate says several things in one sentence.
func aggregate(texts []string) string {
	if len(texts) == 1 {
		return texts[0]
	}
	return "[" + strings.Join(texts, ", ") + "]"
}
