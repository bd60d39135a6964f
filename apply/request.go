package apply

import (
	"fmt"
	"time"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
)

// Request describes a write: an apply, or any other write that [Engine.Update] records.
type Request struct {
	// Manager is the name of the field manager. Apply requires it; the default for Update is "unknown".
	Manager string
	// Subresource is the subresource that is written, "" for the resource itself.
	Subresource string
	// Version is the apiVersion of all documents of the request. The caller converts the live object to it.
	Version string
	// Time is the time of the request. Managed fields entries record it in whole seconds.
	Time time.Time
	// Force makes an apply take over all conflicting fields from their field managers.
	Force bool
	// ForcePaths makes an apply take over the conflicting fields at or below these paths. The empty path selects the
	// whole object.
	ForcePaths []fieldset.Path
	// Empty is the JSON encoding of the zero value of the kind's Go type at this version. It contains the fields
	// without omitempty, for instance status: {}. When an object without managedFields is applied to for the first
	// time, only the fields that differ from Empty are owned by [BeforeFirstApply]. Empty may be absent.
	Empty document.Value
	// Created returns the document that the server would store if it created an object with a document: with defaults, and with
	// the fields that the server sets. Apply calls it with the fields that have a field manager, if a configuration unsets a
	// field whose live value differs from the result of Default. If the field has its live value in the result of Created, it
	// keeps that value. Nil means that the server sets no fields.
	Created func(document.Value) document.Value
	// Admitted is Created with the changes of admission. Apply calls it for unset fields that the applier owned before and
	// whose live values differ from the results of Default and Created. Nil means that admission changes nothing.
	Admitted func(document.Value) document.Value
}

// checkConfiguration returns an error for an apply that is invalid for every kind: one without a field manager, with a
// configuration that is not an object, or with metadata.managedFields.
func checkConfiguration(config document.Value, r Request) error {
	managedFields := config.Lookup("metadata", "managedFields")
	switch {
	case r.Manager == "":
		return fmt.Errorf("apply: Request.Manager must be set to the name of the field manager")
	case config.Kind() != document.Map:
		return newInvalidError(nil, "expected an object, received %s", describe(config))
	case !managedFields.IsAbsent() && !managedFields.IsNull():
		return newInvalidError(fieldset.Names("metadata", "managedFields"), "expected no value, because the server maintains this field; remove it from the configuration")
	}
	return nil
}

// checkDocuments returns an error if the live or the sent document is not an object, or has an apiVersion other than
// the request's.
func checkDocuments(live Object, sent document.Value, r Request) error {
	if v := live.Document.Get("apiVersion"); !v.IsAbsent() && v.Text() != r.Version {
		return fmt.Errorf("apply: expected the live object at the version of the request, %q, received %s; convert it", r.Version, describe(v))
	}
	if v := sent.Get("apiVersion"); !v.IsAbsent() && v.Text() != r.Version {
		return newInvalidError(fieldset.Names("apiVersion"), "expected %q, the version of the request, received %s", r.Version, describe(v))
	}
	for _, doc := range []document.Value{live.Document, sent} {
		if doc.Kind() != document.Map && !doc.IsAbsent() {
			return newInvalidError(nil, "expected an object, received %s", describe(doc))
		}
		if v := doc.Get("metadata"); v.Kind() != document.Map && !v.IsAbsent() && !v.IsNull() {
			return newInvalidError(fieldset.Names("metadata"), "expected a map, received %s", describe(v))
		}
	}
	return nil
}

// newInvalidError returns an InvalidError with one problem, at the given path.
func newInvalidError(path fieldset.Path, format string, args ...any) error {
	return &InvalidError{[]FieldError{{path, fmt.Sprintf(format, args...)}}}
}

// withoutManagedFields removes metadata.managedFields from a document, because an Object holds the entries in a
// separate field.
func withoutManagedFields(doc document.Value) document.Value {
	metadata := doc.Get("metadata")
	if metadata.Get("managedFields").IsAbsent() {
		return doc
	}
	return doc.With("metadata", metadata.Without("managedFields"))
}
