package codec

import "strings"

// The parameter drop of an Accept header says what a client can do without (KEP-5958):
//
//	Accept: application/json;drop=metadata.managedFields
//
// Several things are separated by plus signs, or named by several parameters. Those that nobody knows are
// not left out.

const (
	dropParameter   = "drop"
	droppableFields = "metadata.managedFields"
)

// dropsManagedFields reports whether managedFields are among what a client can do without.
func dropsManagedFields(targets string) bool {
	for target := range strings.SplitSeq(targets, "+") {
		if strings.TrimSpace(target) == droppableFields {
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
		media, rest, has := strings.Cut(clause, ";")
		if !has {
			continue
		}
		var others, targets []string
		for part := range strings.SplitSeq(rest, ";") {
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
		clauses[i] = media + ";" + strings.Join(others, ";")
	}
	return strings.Join(clauses, ",")
}
