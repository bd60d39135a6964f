package ownership

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/apply"
)

// AnySubresource in a [Selector] stands for the resource itself and every subresource except status.
const AnySubresource = "*"

// status is the endpoint that reports what is, not what somebody wants.
const status = "status"

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
		return e.Subresource != status
	}
	return s.Subresource == e.Subresource
}

// String describes the selector.
func (s Selector) String() string {
	who := "any manager"
	if s.Manager != "" {
		who = fmt.Sprintf("%q", s.Manager)
	}
	if s.Operation != "" {
		who += " by " + string(s.Operation)
	}
	if s.Subresource == "" || s.Subresource == AnySubresource {
		return who
	}
	return who + " at " + s.Subresource
}

// where says how and at which endpoint the entries of whatever manager are meant.
func (s Selector) where() string {
	how := ""
	if s.Operation != "" {
		how = " by " + string(s.Operation)
	}
	switch s.Subresource {
	case AnySubresource:
		return how + " at any endpoint but " + status
	case "":
		return how + " at the main endpoint"
	}
	return how + " at " + s.Subresource
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
