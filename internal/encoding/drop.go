package codec

import (
	"iter"
	"strings"
)

// The parameter drop of an Accept header says what a client can do without (KEP-5958):
//
//	Accept: application/json;drop=metadata.managedFields
//
// Several things are separated by plus signs, or named by several parameters. Those that nobody knows are
// not left out. The value may be in quotes; what is in the quotes of other parameters means nothing.

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

// dropMark is the parameter that a clause gets which drops managedFields. No header has it: it is no name there.
const dropMark = "\x00drop"

// markDrops puts the mark into the clauses of a header that have the parameter. Those who read headers know no quotes, and keep
// only the last parameter of a name; so it is read here, where a quoted comma or semicolon separates nothing, and the mark
// comes first, where no quote is before it.
func markDrops(accept string) string {
	if !strings.Contains(strings.ToLower(accept), dropParameter) {
		return accept
	}
	var clauses []string
	for clause := range splitUnquoted(accept, ',') {
		media, parameters, has := strings.Cut(clause, ";")
		if has && isDropping(parameters) {
			clause = media + ";" + dropMark + "=1;" + parameters
		}
		clauses = append(clauses, clause)
	}
	return strings.Join(clauses, ",")
}

// isDropping reports whether the parameters of a clause say that managedFields can be left out.
func isDropping(parameters string) bool {
	for parameter := range splitUnquoted(parameters, ';') {
		name, value, _ := strings.Cut(parameter, "=")
		if strings.EqualFold(strings.TrimSpace(name), dropParameter) && dropsManagedFields(strings.Trim(strings.TrimSpace(value), `"`)) {
			return true
		}
	}
	return false
}

// splitUnquoted returns the parts of a text between separators, but for those within quotes. A quote that nothing closes is no
// quote.
func splitUnquoted(text string, separator byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		start := 0
		for i := 0; i < len(text); i++ {
			switch text[i] {
			case separator:
				if !yield(text[start:i]) {
					return
				}
				start = i + 1
			case '"':
				i += quotedSize(text[i:])
			}
		}
		yield(text[start:])
	}
}

// quotedSize returns how much follows the quote that a text begins with until the one that closes it; 0 if none does.
func quotedSize(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++ // what follows is meant literally
		case '"':
			return i
		}
	}
	return 0
}
