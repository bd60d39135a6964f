package encoding

import (
	"iter"
	"slices"
	"strings"
)

// The parameter drop of a clause in the Accept header names fields that the response should omit (KEP-5958):
//
//	Accept: application/json;drop=metadata.managedFields
//
// Several fields are separated by plus signs or given by several parameters. Unknown fields and empty names are ignored. As in
// the upstream implementation, a clause is not acceptable if one parameter names a field twice. The value may be quoted; commas
// and semicolons in quoted values of other parameters are not separators.

const (
	dropParameter = "drop"
	// managedFieldsTarget is the only field that the parameter drop supports.
	managedFieldsTarget = "metadata.managedFields"
)

// dropMark is the parameter that markDrops adds to clauses with a drop parameter. Its value is one of the constants below. It
// is not a valid parameter name, so that clients cannot send it.
const dropMark = "\x00drop"

// The values of dropMark. A clause without the mark drops nothing.
const (
	dropsManagedFields = "1"
	dropsTwice         = "2" // one parameter names a field twice, so that the clause is not acceptable
)

// markDrops adds dropMark to the clauses of an Accept header whose drop parameter has an effect. The drop parameter is parsed
// here because goautoneg does not support quotes and retains only the last parameter with a name. The mark becomes the first
// parameter, so that it precedes any quote.
func markDrops(accept string) string {
	if !strings.Contains(strings.ToLower(accept), dropParameter) {
		return accept
	}
	var clauses []string
	for clause := range splitUnquoted(accept, ',') {
		media, parameters, has := strings.Cut(clause, ";")
		if mark := dropMarkOf(parameters); has && mark != "" {
			clause = media + ";" + dropMark + "=" + mark + ";" + parameters
		}
		clauses = append(clauses, clause)
	}
	return strings.Join(clauses, ",")
}

// dropMarkOf returns the value of dropMark for the parameters of an Accept clause; "" if they drop nothing.
func dropMarkOf(parameters string) (mark string) {
	for parameter := range splitUnquoted(parameters, ';') {
		name, value, _ := strings.Cut(parameter, "=")
		if !strings.EqualFold(strings.TrimSpace(name), dropParameter) {
			continue
		}
		targets := dropTargets(value)
		for i, target := range targets {
			switch {
			case slices.Contains(targets[:i], target):
				return dropsTwice
			case target == managedFieldsTarget:
				mark = dropsManagedFields
			}
		}
	}
	return mark
}

// maxDropTargets is the maximum number of fields of a drop parameter that are read; the others are ignored like unknown fields.
const maxDropTargets = 64

// dropTargets returns the fields in the value of a drop parameter, without empty names.
func dropTargets(value string) (targets []string) {
	for target := range strings.SplitSeq(strings.Trim(strings.TrimSpace(value), `"`), "+") {
		if target = strings.TrimSpace(target); target != "" && len(targets) < maxDropTargets {
			targets = append(targets, target)
		}
	}
	return targets
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
