package codec

import "strings"

// The parameter drop of an Accept header says what a client can do without (KEP-5958):
//
//	Accept: application/json;drop=metadata.managedFields
//
// Several things are separated by plus signs, or named by several parameters. Those that nobody knows are
// not left out.

const (
	dropParameter = "drop"
	// managedFieldsTarget is the only thing that can be left out.
	managedFieldsTarget = "metadata.managedFields"
)

// dropsManagedFields reports whether managedFields are among what a client can do without.
func dropsManagedFields(targets string) bool {
	for target := range strings.SplitSeq(targets, "+") {
		if strings.TrimSpace(target) == managedFieldsTarget {
			return true
		}
	}
	return false
}

// joinDrops makes one parameter of all that a clause has: those who read headers keep only the last of a name.
// Quotes, which they keep, mean nothing.
func joinDrops(accept string) string {
	if !strings.Contains(strings.ToLower(accept), dropParameter) {
		return accept
	}
	clauses := strings.Split(accept, ",")
	for i, clause := range clauses {
		if media, parameters, has := strings.Cut(clause, ";"); has {
			clauses[i] = media + ";" + joinDropsOf(parameters)
		}
	}
	return strings.Join(clauses, ",")
}

// joinDropsOf does it for the parameters of one clause.
func joinDropsOf(parameters string) string {
	var others, targets []string
	for part := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(part, "=")
		if strings.EqualFold(strings.TrimSpace(name), dropParameter) {
			targets = append(targets, strings.Trim(strings.TrimSpace(value), `"`))
		} else {
			others = append(others, part)
		}
	}
	if len(targets) > 0 {
		others = append(others, dropParameter+"="+strings.Join(targets, "+"))
	}
	return strings.Join(others, ";")
}
