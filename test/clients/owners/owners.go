// Package owners formats managedFields for people and for comparisons in tests.
package owners

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cadastre/cadastre/fieldset"
)

// lineWidth is the maximum length of a line. Entries that would be longer have one line per field.
const lineWidth = 100

// Lines returns one line per managed fields entry, in the format of the scripts of package applytest:
//
//	alice Apply v1: .data.a .metadata.labels.app
//
// The order does not depend on the times of the entries, and therefore not on the speed of a test.
func Lines(entries []metav1.ManagedFieldsEntry) (string, error) {
	entries = slices.Clone(entries)
	slices.SortStableFunc(entries, func(a, b metav1.ManagedFieldsEntry) int {
		return cmp.Or(cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Manager, b.Manager),
			cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Subresource, b.Subresource))
	})
	var text strings.Builder
	for _, entry := range entries {
		fields, err := fieldsOf(entry)
		if err != nil {
			return "", err
		}
		prefix := strings.TrimSuffix(fmt.Sprintf("%s %s %s %s", entry.Manager, entry.Operation, entry.APIVersion, entry.Subresource), " ") + ":"
		line := prefix + " " + strings.Join(fields, " ")
		if len(line) > lineWidth {
			line = prefix + "\n  " + strings.Join(fields, "\n  ")
		}
		text.WriteString(line + "\n")
	}
	return text.String(), nil
}

// fieldsOf returns the field paths of entry, parents before children.
func fieldsOf(entry metav1.ManagedFieldsEntry) ([]string, error) {
	if entry.FieldsV1 == nil {
		return nil, nil
	}
	set, err := fieldset.ParseFieldsV1(entry.FieldsV1.GetRawString())
	if err != nil {
		return nil, fmt.Errorf("managedFields of %s: %w", entry.Manager, err)
	}
	paths := set.Paths()
	slices.SortFunc(paths, fieldset.Path.Compare)
	fields := make([]string, len(paths))
	for i, path := range paths {
		fields[i] = path.Quoted()
	}
	return fields, nil
}
