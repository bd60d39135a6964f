package registry

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/document"
)

// TestManyReferences: the cost is linear in the number of owner references.
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
		t.Errorf("withUniqueOwnerReferences() took %v", took)
	}
	if unique != many+1 || len(warnings) != 1 || !strings.HasSuffix(warnings[0], "duplicate UID(s) observed: 7") {
		t.Errorf("%d references with the warnings %q, want %d and one about 7", unique, warnings, many+1)
	}
}
