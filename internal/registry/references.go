package registry

import (
	"fmt"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// Kubernetes' warning about duplicate ownerReferences contains one of these texts, which state when the duplicates were
// found. For patches, duplicates are searched only after admission.
const (
	// duplicatesInBody is the text about duplicates in the request body.
	duplicatesInBody = ""
	// duplicatesAfterAdmission is the text about duplicates in the object after mutating admission.
	duplicatesAfterAdmission = " after mutating admission happens"
)

// withUniqueOwnerReferences removes each ownerReference that equals an earlier ownerReference of the object, and adds
// Kubernetes' warning. As in Kubernetes it retains ownerReferences with equal uid that differ otherwise.
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
