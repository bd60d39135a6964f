package registry

import (
	"fmt"
	"slices"
	"time"

	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
)

// entries returns the managed fields entries before the write: those in the body, or those of the live object if the body
// contains none or they cannot be decoded. An empty list, or a list of one empty entry, in the body removes all entries.
func (d decoded) entries(live apply.Object) []apply.Entry {
	if isReset(d.managed) {
		return nil
	}
	if d.managed.Kind() != document.List {
		return live.Entries
	}
	o, err := apply.SplitObject(document.NewMap(document.Field{
		Name: "metadata", Value: document.NewMap(document.Field{Name: "managedFields", Value: d.managed}),
	}))
	if err != nil || len(o.Entries) == 0 || !canonicalize(o.Entries, live.Entries) {
		return live.Entries
	}
	apply.SortEntries(o.Entries)
	return o.Entries
}

// maxComparedEntries is the maximum number of live entries with which canonicalize compares each entry.
const maxComparedEntries = 16

// canonicalize rewrites the field sets of entries in canonical order, because clients and patches may reorder the names in
// fieldsV1. It returns false if a field set cannot be decoded. A field set that equals the field set of a live entry is
// canonical already and is not decoded.
func canonicalize(entries, live []apply.Entry) bool {
	live = live[:min(len(live), maxComparedEntries)]
	for i := range entries {
		e := &entries[i]
		if slices.ContainsFunc(live, func(l apply.Entry) bool { return l.FieldsV1 == e.FieldsV1 }) {
			continue
		}
		fields, err := e.Fields()
		if err != nil {
			return false
		}
		e.FieldsV1 = fields.FieldsV1()
	}
	return true
}

// checkManaged returns an error if managedFields cannot be decoded as a list of ManagedFieldsEntry. It does not check
// fieldsV1 or the values of operation and fieldsType.
func (d decoded) checkManaged() error {
	switch d.managed.Kind() {
	case document.Absent, document.Null:
		return nil
	case document.List:
	default:
		return fmt.Errorf("metadata.managedFields: expected a list, received a %s", d.managed.Kind())
	}
	for i, entry := range d.managed.Items() {
		if entry.Kind() != document.Map && !entry.IsNull() {
			return fmt.Errorf("metadata.managedFields[%d]: expected a map, received a %s", i, entry.Kind())
		}
		for _, name := range entryStringFields {
			if v := entry.Get(name); v.Kind() != document.String && !v.IsAbsent() && !v.IsNull() {
				return fmt.Errorf("metadata.managedFields[%d].%s: expected a string, received a %s", i, name, v.Kind())
			}
		}
		if v := entry.Get("time"); v.Kind() == document.String {
			if _, err := time.Parse(time.RFC3339, v.Text()); err != nil {
				return fmt.Errorf("metadata.managedFields[%d].time: expected a time such as 2026-01-02T03:04:05Z, received %q", i, v.Text())
			}
		}
	}
	return nil
}

// entryStringFields are the string fields of a managed fields entry.
var entryStringFields = []string{"apiVersion", "fieldsType", "manager", "operation", "subresource", "time"}

// isReset reports whether managedFields in a body remove all managed fields entries: an empty list, or a list of one empty
// entry.
func isReset(managed document.Value) bool {
	if managed.Kind() != document.List {
		return false
	}
	return managed.Len() == 0 || managed.Len() == 1 && isEmptyEntry(managed.At(0))
}

// isEmptyEntry reports whether an item of managedFields is null, or has only empty fields.
func isEmptyEntry(entry document.Value) bool {
	for _, name := range entryStringFields {
		if v := entry.Get(name); !v.IsAbsent() && !v.IsNull() && v.Text() != "" {
			return false
		}
	}
	fields := entry.Get("fieldsV1")
	return fields.IsAbsent() || fields.IsNull()
}

// validateManagers returns errors for entries whose field manager name is too long or contains unprintable characters.
func validateManagers(entries []apply.Entry) (errs field.ErrorList) {
	for i, e := range entries {
		if len(metav1validation.ValidateFieldManager(e.Manager, nil)) > 0 { // the path is built only if there is an error
			path := field.NewPath("metadata", "managedFields").Index(i).Child("manager")
			errs = append(errs, metav1validation.ValidateFieldManager(e.Manager, path)...)
		}
	}
	return errs
}
