package builtin

import (
	"encoding/base64"

	"github.com/cadastre/cadastre/document"
)

// steps holds the defaulting rules that are Go functions, by name. Kind files call them with "go NAME".
var steps = map[string]func(*structUpdate){
	"gracePeriod": raiseGracePeriod,
	"podCIDRs":    func(s *structUpdate) { syncFirst(s, "podCIDR", "podCIDRs", "") },
	"podIPs":      func(s *structUpdate) { syncFirst(s, "podIP", "podIPs", "ip") },
	"stringData":  encodeStringData,
}

// raiseGracePeriod sets a negative terminationGracePeriodSeconds of a Pod to 1. It is not applied to pod templates.
func raiseGracePeriod(s *structUpdate) {
	const name = "terminationGracePeriodSeconds"
	spec := s.get("spec")
	if seconds, ok := spec.Get(name).Int64(); ok && seconds < 0 {
		s.set("spec", spec.With(name, document.NewInt(1)))
	}
}

// syncFirst makes the legacy field name, such as podIP, equal to the first item of list, such as podIPs, which replaces it. If
// field is not "", the legacy field corresponds to that field of the first item. If the legacy field and the list are both set
// and differ, the legacy field takes precedence.
func syncFirst(s *structUpdate, name, list, field string) {
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

// encodeStringData moves the values of a Secret's stringData, base64-encoded, to its data.
func encodeStringData(s *structUpdate) {
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
