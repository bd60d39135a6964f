package ownership

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
)

// readYAML parses an object from YAML.
func readYAML(t testing.TB, text string) apply.Object {
	t.Helper()
	doc, err := document.ParseYAML([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	o, err := apply.SplitObject(doc)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// mustPaths parses paths in the notation of fieldset.ParsePath. It ends the test if any of the texts is invalid.
func mustPaths(t testing.TB, texts ...string) []fieldset.Path {
	t.Helper()
	all := make([]fieldset.Path, len(texts))
	for i, text := range texts {
		var err error
		if all[i], err = fieldset.ParsePath(text); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// newEntry returns a managed fields entry that owns the given paths. id has the form
// MANAGER/OPERATION[/SUBRESOURCE][@VERSION]; the default of VERSION is v1.
func newEntry(t testing.TB, id string, owned ...string) apply.Entry {
	t.Helper()
	id, version, found := strings.Cut(id, "@")
	if !found {
		version = "v1"
	}
	parts := append(strings.Split(id, "/"), "")
	return apply.Entry{
		Manager: parts[0], Operation: apply.Operation(parts[1]), Subresource: parts[2], APIVersion: version,
		FieldsV1: fieldset.New(mustPaths(t, owned...)...).FieldsV1(),
	}
}

// formatEntries formats managed fields entries, one per line, as the id that newEntry expects and the owned paths.
func formatEntries(t testing.TB, entries []apply.Entry) string {
	t.Helper()
	var b strings.Builder
	for i, e := range entries {
		set, err := decodeFields(entries, i)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s/%s", e.Manager, e.Operation)
		if e.Subresource != "" {
			b.WriteString("/" + e.Subresource)
		}
		if e.APIVersion != "v1" {
			b.WriteString("@" + e.APIVersion)
		}
		b.WriteString(":")
		for p := range set.All() {
			b.WriteString(" " + p.Quoted())
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// toUnstructured converts an object to the type that client-go expects.
func toUnstructured(t testing.TB, o apply.Object) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(o.JSON()), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

// fromClientGo converts client-go's managed fields entries, and sorts them as a server does.
func fromClientGo(t testing.TB, list []metav1.ManagedFieldsEntry) []apply.Entry {
	t.Helper()
	text, err := json.Marshal(map[string]any{"metadata": map[string]any{"managedFields": list}})
	if err != nil {
		t.Fatal(err)
	}
	o, err := apply.ReadObject(text)
	if err != nil {
		t.Fatal(err)
	}
	apply.SortEntries(o.Entries)
	return o.Entries
}
