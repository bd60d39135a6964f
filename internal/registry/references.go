package registry

import (
	"fmt"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// Kubernetes' warning about duplicate ownerReferences contains one of these texts, which state when the duplicates were found.
// Patches are only checked after admission.
const (
	// duplicatesInBody is for duplicates in the request body.
	duplicatesInBody = ""
	// duplicatesAfterAdmission is for duplicates after mutating admission.
	duplicatesAfterAdmission = " after mutating admission happens"
)

// withUniqueOwnerReferences returns the object without ownerReferences that equal an earlier one, and adds Kubernetes' warning
// about them. As in Kubernetes it retains references that have the same uid and differ otherwise.
func (r *Request) withUniqueOwnerReferences(doc document.Value, when string) document.Value {
	references := doc.Lookup("metadata", "ownerReferences")
	if references.Len() < 2 {
		return doc
	}
	var unique []document.Value
	var duplicates []string
	seen := make(map[string]bool, references.Len())
	for _, reference := range references.Items() {
		if text := reference.JSON(); seen[text] {
			duplicates = append(duplicates, reference.Get("uid").Text())
		} else {
			seen[text] = true
			unique = append(unique, reference)
		}
	}
	if len(duplicates) == 0 {
		return doc
	}
	r.Warn(fmt.Sprintf(".metadata.ownerReferences contains duplicate entries%s; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: %s",
		when, strings.Join(duplicates, ", ")))
	return doc.With("metadata", doc.Get("metadata").With("ownerReferences", document.NewList(unique...)))
}
