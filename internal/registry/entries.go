package objects

import (
	"fmt"
	"slices"
	"time"

	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
)

// entries returns the entries that an object has before a plain write is tracked: those that the
// client sent, if it sent some that can be read, else those of the live object. An empty list,
// or one with an empty entry, says that nobody owns anything.
func (s sent) entries(live apply.Object) []apply.Entry {
	if isReset(s.managed) {
		return nil
	}
	if s.managed.Kind() != document.List {
		return live.Entries
	}
	o, err := apply.SplitObject(document.NewMap(document.Field{
		Name: "metadata", Value: document.NewMap(document.Field{Name: "managedFields", Value: s.managed}),
	}))
	if err != nil || len(o.Entries) == 0 || !respell(o.Entries, live.Entries) {
		return live.Entries
	}
	apply.SortEntries(o.Entries)
	return o.Entries
}

// fewEntries is how many entries objects have, but for some.
const fewEntries = 16

// respell writes the field sets of entries as the server does, and reports whether all could be read: on
// the way through a client, or through a patch, names may have changed their order, which is no change.
// Field sets that live entries have as well need not be looked at, unless it were more work to find them.
func respell(entries, live []apply.Entry) bool {
	live = live[:min(len(live), fewEntries)]
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

// checkManaged refuses managedFields that are not of the type that they have in every object. What they
// say is not looked at.
func (s sent) checkManaged() error {
	switch s.managed.Kind() {
	case document.Absent, document.Null:
		return nil
	case document.List:
	default:
		return fmt.Errorf("metadata.managedFields: expected a list, received a %s", s.managed.Kind())
	}
	for i, entry := range s.managed.Items() {
		if entry.Kind() != document.Map && !entry.IsNull() {
			return fmt.Errorf("metadata.managedFields[%d]: expected a map, received a %s", i, entry.Kind())
		}
		for _, name := range entryTexts {
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

// entryTexts are the fields of entries of managedFields that are strings.
var entryTexts = []string{"apiVersion", "fieldsType", "manager", "operation", "subresource", "time"}

func isReset(managed document.Value) bool {
	if managed.Kind() != document.List {
		return false
	}
	return managed.Len() == 0 || managed.Len() == 1 && isEmptyEntry(managed.At(0))
}

// isEmptyEntry reports whether an entry says nothing: it is null, or nothing that entries have is in it.
func isEmptyEntry(entry document.Value) bool {
	for _, name := range entryTexts {
		if v := entry.Get(name); !v.IsAbsent() && !v.IsNull() && v.Text() != "" {
			return false
		}
	}
	fields := entry.Get("fieldsV1")
	return fields.IsAbsent() || fields.IsNull()
}

// checkManagers refuses entries whose managers have names that no writer may have.
func checkManagers(entries []apply.Entry) (errs field.ErrorList) {
	for i, e := range entries {
		if len(metav1validation.ValidateFieldManager(e.Manager, nil)) > 0 { // paths are made for bad names only
			path := field.NewPath("metadata", "managedFields").Index(i).Child("manager")
			errs = append(errs, metav1validation.ValidateFieldManager(e.Manager, path)...)
		}
	}
	return errs
}
