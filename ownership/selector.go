package ownership

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/apply"
)

// AnySubresource in a [Selector] stands for the resource itself and every subresource except status.
const AnySubresource = "*"

// statusSubresource is the endpoint that reports what is, not what somebody wants.
const statusSubresource = "status"

// Selector selects managedFields entries.
type Selector struct {
	// Manager is the name; "" selects every manager.
	Manager string
	// Operation selects the operation; "" selects both.
	Operation apply.Operation
	// Subresource selects the subresource; "" is the resource itself.
	Subresource string
}

// Selects reports whether the selector selects an entry.
func (s Selector) Selects(e apply.Entry) bool {
	if s.Manager != "" && s.Manager != e.Manager || s.Operation != "" && s.Operation != e.Operation {
		return false
	}
	if s.Subresource == AnySubresource {
		return e.Subresource != statusSubresource
	}
	return s.Subresource == e.Subresource
}

// String describes the selector.
func (s Selector) String() string {
	text := "any manager"
	if s.Manager != "" {
		text = fmt.Sprintf("%q", s.Manager)
	}
	if s.Operation != "" {
		text += " by " + string(s.Operation)
	}
	if s.Subresource == "" || s.Subresource == AnySubresource {
		return text
	}
	return text + " at " + s.Subresource
}

// scope says how and at which endpoint the entries of whatever manager are meant.
func (s Selector) scope() string {
	text := ""
	if s.Operation != "" {
		text = " by " + string(s.Operation)
	}
	switch s.Subresource {
	case AnySubresource:
		return text + " at any endpoint but " + statusSubresource
	case "":
		return text + " at the main endpoint"
	}
	return text + " at " + s.Subresource
}

func anySelects(selectors []Selector, e apply.Entry) bool {
	return slices.ContainsFunc(selectors, func(s Selector) bool { return s.Selects(e) })
}

// describeManagers names the managers of entries, for errors.
func describeManagers(entries []apply.Entry) string {
	if len(entries) == 0 {
		return "no managers"
	}
	var names []string
	for _, e := range entries {
		name := Selector{e.Manager, e.Operation, e.Subresource}.String()
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}
