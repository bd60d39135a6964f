package encoding

import (
	"strconv"

	"github.com/cadastre/cadastre/document"
)

// flowSchemaOrder returns the sort key of a FlowSchema: its matching precedence, then its name.
func flowSchemaOrder(r *row) sortKey {
	return sortKey{number: integer(r.get("spec", "matchingPrecedence")), name: text(r.get("metadata", "name"))}
}

func flowSchemaMethod(r *row) string {
	method := r.get("spec", "distinguisherMethod")
	if method.Kind() != document.Map {
		return none
	}
	return text(method.Get("type"))
}

// flowSchemaDangling returns the status of the Dangling condition: True if the priority level of a FlowSchema does not exist;
// "?" if the FlowSchema has no such condition.
func flowSchemaDangling(r *row) string {
	dangling := itemWith(r.get("status", "conditions"), "type", "Dangling")
	if !isPresent(dangling) {
		return "?"
	}
	return text(dangling.Get("status"))
}

// levelShares appends the concurrency shares of a PriorityLevelConfiguration; <none> if its type is not Limited.
func levelShares(dst []byte, r *row) []byte {
	return appendWithin(dst, r.get("spec", "limited"), "nominalConcurrencyShares")
}

// levelQueuing returns the cell of a field of the queuing configuration of a PriorityLevelConfiguration.
func levelQueuing(field string) cell {
	return func(dst []byte, r *row) []byte {
		return appendWithin(dst, r.get("spec", "limited", "limitResponse", "queuing"), field)
	}
}

// appendWithin appends the number in the given field of v, a map; 0 if the field is absent, and <none> if v is not a map.
func appendWithin(dst []byte, v document.Value, field string) []byte {
	if v.Kind() != document.Map {
		return document.AppendString(dst, none)
	}
	return strconv.AppendInt(dst, integer(v.Get(field)), 10)
}
