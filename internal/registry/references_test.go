package registry

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/document"
)

// TestManyReferences checks that the removal of duplicate ownerReferences is not quadratic in their number.
func TestManyReferences(t *testing.T) {
	text := &strings.Builder{}
	const many = 40_000
	for i := range many {
		fmt.Fprintf(text, `{"apiVersion":"v1","kind":"Pod","name":"p","uid":"%d"},`, i)
	}
	doc, err := document.ParseJSON(`{"metadata":{"ownerReferences":[` + text.String() + `{"uid":"7","name":"p","kind":"Pod","apiVersion":"v1"},{"uid":"7"}]}}`)
	if err != nil {
		t.Fatal(err)
	}
	var warnings []string
	r := &Request{Warn: func(text string) { warnings = append(warnings, text) }}
	start := time.Now()
	unique := r.withUniqueOwnerReferences(doc, duplicatesInBody).Lookup("metadata", "ownerReferences").Len()
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("withUniqueOwnerReferences() took %v for %d references, want at most 10s", took, many)
	}
	if unique != many+1 || len(warnings) != 1 || !strings.HasSuffix(warnings[0], "duplicate UID(s) observed: 7") {
		t.Errorf("withUniqueOwnerReferences(): got %d references and warnings %q, want %d references and one warning about uid 7", unique, warnings, many+1)
	}
}
