package ownership

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/apply"
)

// AnySubresource in a [Selector] selects the resource itself and every subresource except status.
const AnySubresource = "*"

// statusSubresource is the subresource that reports observed state. Changes of the owners of the desired state do not affect
// its managed fields entries.
const statusSubresource = "status"

// Selector selects managedFields entries.
type Selector struct {
	// Manager is the name of the field manager; "" selects every manager.
	Manager string
	// Operation is the operation of the entry; "" selects both Apply and Update.
	Operation apply.Operation
	// Subresource is the subresource of the entry; "" selects the resource itself, see also [AnySubresource].
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

// String describes the selector, for messages.
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

// scope describes the operation and subresource of the selector, for messages.
func (s Selector) scope() string {
	text := ""
	if s.Operation != "" {
		text = " by " + string(s.Operation)
	}
	switch s.Subresource {
	case AnySubresource:
		return text + " of any subresource except " + statusSubresource
	case "":
		return text + " of the main resource"
	}
	return text + " of subresource " + s.Subresource
}

// anySelects reports whether any of the selectors selects the entry.
func anySelects(selectors []Selector, e apply.Entry) bool {
	return slices.ContainsFunc(selectors, func(s Selector) bool { return s.Selects(e) })
}

// describeManagers returns a list of the managers, operations and subresources of managed fields entries for messages,
// without duplicates.
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
