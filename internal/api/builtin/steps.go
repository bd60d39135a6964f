package builtin

import (
	"encoding/base64"

	"github.com/cadastre/cadastre/document"
)

// steps are the defaults that are Go code: kind files name them behind go.
var steps = map[string]func(*subject){
	"gracePeriod":       raiseGracePeriod,
	"podCIDRs":          func(s *subject) { matchFirst(s, "podCIDR", "podCIDRs", "") },
	"podIPs":            func(s *subject) { matchFirst(s, "podIP", "podIPs", "ip") },
	"podLevelResources": setPodLevelResources,
	"stringData":        encodeStringData,
}

// raiseGracePeriod makes a Pod's negative grace period 1. Templates keep theirs.
func raiseGracePeriod(s *subject) {
	const name = "terminationGracePeriodSeconds"
	spec := s.get("spec")
	if seconds, ok := spec.Get(name).Int64(); ok && seconds < 0 {
		s.set("spec", spec.With(name, document.NewInt(1)))
	}
}

// matchFirst makes a field and the first item of a list, or a field of that item, the same. The
// field is the older one, and counts if they differ.
func matchFirst(s *subject, name, list, field string) {
	one, all := s.get(name), s.get(list)
	first := document.Value{}
	if all.Len() > 0 {
		if first = all.At(0); field != "" {
			first = first.Get(field)
		}
	}
	switch {
	case one.Text() == "" && first.Text() != "":
		s.set(name, first)
	case one.Text() != "" && first.Text() != one.Text():
		item := one
		if field != "" {
			item = document.NewMap(document.Field{Name: field, Value: one})
		}
		s.set(list, document.NewList(item))
	}
}

// encodeStringData moves a Secret's stringData to its data.
func encodeStringData(s *subject) {
	plain := s.get("stringData")
	if plain.IsAbsent() {
		return
	}
	data := s.get("data")
	for name, value := range plain.Fields() {
		data = data.With(name, document.NewString(base64.StdEncoding.EncodeToString([]byte(value.Text()))))
	}
	if plain.Len() > 0 {
		s.set("data", data)
	}
	s.set("stringData", document.Value{})
}
