package objects

import (
	"fmt"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// When references that occur twice are found: in what was sent, or in what became of it. Of a patch nothing else is
// known.
const (
	asSent   = ""
	asMerged = " after mutating admission happens"
)

// onceReferred drops owner references that are equal to one before them, and tells the client so in the words of
// Kubernetes. Those that only have the same uid stay, and are refused or not by the rules.
func (r *Request) onceReferred(doc document.Value, when string) document.Value {
	references := doc.Lookup("metadata", "ownerReferences")
	if references.Len() < 2 {
		return doc
	}
	var kept []document.Value
	var twice []string
	seen := make(map[string]bool, references.Len())
	for _, reference := range references.Items() {
		if text := reference.JSON(); seen[text] {
			twice = append(twice, reference.Get("uid").Text())
		} else {
			seen[text] = true
			kept = append(kept, reference)
		}
	}
	if len(twice) == 0 {
		return doc
	}
	r.Warn(fmt.Sprintf(".metadata.ownerReferences contains duplicate entries%s; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: %s",
		when, strings.Join(twice, ", ")))
	return doc.With("metadata", doc.Get("metadata").With("ownerReferences", document.NewList(kept...)))
}
