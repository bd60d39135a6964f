package encoding

import (
	"strconv"

	"github.com/cadastre/cadastre/document"
)

// flowSchemaOrder is the order in which flow schemas are tried.
func flowSchemaOrder(r *row) place {
	return place{number: integer(r.get("spec", "matchingPrecedence")), name: text(r.get("metadata", "name"))}
}

func flowSchemaMethod(r *row) string {
	method := r.get("spec", "distinguisherMethod")
	if method.Kind() != document.Map {
		return none
	}
	return text(method.Get("type"))
}

// flowSchemaDangling tells whether there is no such priority level, if that is known.
func flowSchemaDangling(r *row) string {
	dangling := itemWith(r.get("status", "conditions"), "type", "Dangling")
	if !present(dangling) {
		return "?"
	}
	return text(dangling.Get("status"))
}

// levelShares appends the share of a priority level that has a limit.
func levelShares(dst []byte, r *row) []byte {
	return appendWithin(dst, r.get("spec", "limited"), "nominalConcurrencyShares")
}

// levelQueuing makes a cell about the queues of a priority level that has some.
func levelQueuing(field string) cell {
	return func(dst []byte, r *row) []byte {
		return appendWithin(dst, r.get("spec", "limited", "limitResponse", "queuing"), field)
	}
}

// appendWithin appends the number in a field of something, 0 if it has none; <none> if that is not
// there.
func appendWithin(dst []byte, v document.Value, field string) []byte {
	if v.Kind() != document.Map {
		return document.AppendString(dst, none)
	}
	return strconv.AppendInt(dst, integer(v.Get(field)), 10)
}
