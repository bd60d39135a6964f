package ownership

import (
	"encoding/base64"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

// Extract returns the configuration that consists of the fields that a field manager owns; applying it changes nothing. See
// [apply.Engine.Extract]. If the manager has both an Apply and an Update entry, Extract uses the Apply entry. It returns
// [apply.ErrNoManagedFields] if the object has no managed fields entries, and an [*OtherVersionError] if the object is not
// at the API version of the manager's entry.
func Extract(o apply.Object, manager Selector, t *schema.Type) (document.Value, error) {
	if len(o.Entries) == 0 {
		return document.Value{}, apply.ErrNoManagedFields
	}
	version := o.Document.Get("apiVersion").Text()
	entry, err := entryOf(o, manager)
	if err != nil {
		return document.Value{}, err
	}
	if entry.APIVersion != version {
		return document.Value{}, &OtherVersionError{Entry: entry, Received: version}
	}
	engine, err := apply.New(apply.Options{Versions: apply.OneVersion(version, t), Unset: true})
	if err != nil {
		return document.Value{}, err
	}
	// The engine extracts only Apply entries. Therefore an Update entry is passed to the engine as an Apply entry.
	others := slices.DeleteFunc(slices.Clone(o.Entries), manager.Selects)
	entry.Operation = apply.Apply
	live := apply.Object{Document: withStringData(o.Document), Entries: append(others, entry)}
	return engine.Extract(live, apply.Request{Manager: entry.Manager, Subresource: entry.Subresource, Version: version})
}

// withStringData returns a Secret with stringData that is decoded from data, and other objects unchanged. Servers move
// stringData to data when they store a Secret, but managedFields still contains paths in stringData.
func withStringData(doc document.Value) document.Value {
	if doc.Get("apiVersion").Text() != "v1" || doc.Get("kind").Text() != "Secret" {
		return doc
	}
	var texts []document.Field
	for name, value := range doc.Get("data").Fields() {
		if text, err := base64.StdEncoding.DecodeString(value.Text()); err == nil && utf8.Valid(text) {
			texts = append(texts, document.Field{Name: name, Value: document.NewString(string(text))})
		}
	}
	return doc.With("stringData", document.NewMap(texts...))
}

// entryOf returns the first Apply entry that the selector manager selects. If manager selects only Update entries, it
// returns the first of these. It returns an error if manager selects no entry.
func entryOf(o apply.Object, manager Selector) (apply.Entry, error) {
	selected := -1
	for i, e := range o.Entries {
		if manager.Selects(e) && (selected < 0 || e.Operation == apply.Apply && o.Entries[selected].Operation != apply.Apply) {
			selected = i
		}
	}
	if selected < 0 {
		return apply.Entry{}, fmt.Errorf("%s owns no field of this object; its managers are %s", manager, describeManagers(o.Entries))
	}
	return o.Entries[selected], nil
}

// OtherVersionError is returned if the object must be read at another API version.
type OtherVersionError struct {
	// Entry is the managed fields entry at whose version the object is required. Received is the version of the object.
	Entry    apply.Entry
	Received string
}

func (e *OtherVersionError) Error() string {
	return fmt.Sprintf("expected the object at version %[2]s, at which manager %[1]q wrote it, received version %[3]s; read it at version %[2]s", e.Entry.Manager, e.Entry.APIVersion, e.Received)
}
