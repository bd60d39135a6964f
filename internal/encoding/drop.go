package encoding

import (
	"iter"
	"strings"
)

// The parameter drop of a clause in the Accept header names fields that the response should omit (KEP-5958):
//
//	Accept: application/json;drop=metadata.managedFields
//
// Several fields are separated by plus signs or given by several parameters. Unknown fields are ignored. The value may be
// quoted; commas and semicolons in quoted values of other parameters are not separators.

const (
	dropParameter = "drop"
	// managedFieldsTarget is the only field that the parameter drop supports.
	managedFieldsTarget = "metadata.managedFields"
)

// dropsManagedFields reports whether the value of a drop parameter includes metadata.managedFields.
func dropsManagedFields(targets string) bool {
	for target := range strings.SplitSeq(targets, "+") {
		if strings.TrimSpace(target) == managedFieldsTarget {
			return true
		}
	}
	return false
}

// dropMark is the parameter that markDrops adds to clauses that drop managedFields. It is not a valid parameter name, so
// clients cannot send it.
const dropMark = "\x00drop"

// markDrops adds dropMark to the clauses of an Accept header that drop managedFields. The drop parameter is parsed here
// because goautoneg does not support quotes and retains only the last parameter with a name. The mark becomes the first
// parameter, so that it precedes any quote.
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

// isDropping reports whether the parameters of an Accept clause drop managedFields.
func isDropping(parameters string) bool {
	for parameter := range splitUnquoted(parameters, ';') {
		name, value, _ := strings.Cut(parameter, "=")
		if strings.EqualFold(strings.TrimSpace(name), dropParameter) && dropsManagedFields(strings.Trim(strings.TrimSpace(value), `"`)) {
			return true
		}
	}
	return false
}

// splitUnquoted splits a text at the separators that are outside of quotes. An unbalanced quote is an ordinary character.
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

// quotedSize returns the offset of the closing quote in text, which starts with a quote; 0 if there is no closing quote.
func quotedSize(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++ // skips the escaped character
		case '"':
			return i
		}
	}
	return 0
}
