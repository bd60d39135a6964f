package apply

import (
	"fmt"
	"time"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
)

// Request describes a write.
type Request struct {
	// Manager is the name of the field manager. Apply requires it; the default for Update is "unknown".
	Manager string
	// Subresource is the subresource that is written, "" for the resource itself.
	Subresource string
	// Version is the apiVersion of all documents of the request. The caller converts the live object to it.
	Version string
	// Time is the time of the request. Entries have a resolution of one second.
	Time time.Time
	// Force takes over all conflicting fields from their owners.
	Force bool
	// ForcePaths takes over the conflicting fields at or below these paths. The empty path selects the whole object.
	ForcePaths []fieldset.Path
	// Empty is an object of this version without any field set, as its Go type is encoded: with structs that have no
	// omitempty. When an object without managedFields is first applied to, only the fields that differ from Empty get
	// an owner. It may be absent.
	Empty document.Value
}

// checkConfiguration rejects configurations that are invalid for every kind.
func checkConfiguration(config document.Value, r Request) error {
	managedFields := config.Lookup("metadata", "managedFields")
	switch {
	case r.Manager == "":
		return fmt.Errorf("apply: expected the name of a field manager, received none; set Request.Manager")
	case config.Kind() != document.Map:
		return invalid(nil, "expected an object, received %s", describe(config))
	case !managedFields.IsAbsent() && !managedFields.IsNull():
		return invalid(fieldset.Names("metadata", "managedFields"), "expected no value, because the server maintains this field; remove it from the configuration")
	}
	return nil
}

// checkDocuments rejects documents that are not objects or that are not at the version of the request.
func checkDocuments(live Object, sent document.Value, r Request) error {
	if v := live.Document.Get("apiVersion"); !v.IsAbsent() && v.Text() != r.Version {
		return fmt.Errorf("apply: expected the live object at the version of the request, %q, received %s; convert it", r.Version, describe(v))
	}
	if v := sent.Get("apiVersion"); !v.IsAbsent() && v.Text() != r.Version {
		return invalid(fieldset.Names("apiVersion"), "expected %q, the version of the request, received %s", r.Version, describe(v))
	}
	for _, doc := range []document.Value{live.Document, sent} {
		if doc.Kind() != document.Map && !doc.IsAbsent() {
			return invalid(nil, "expected an object, received %s", describe(doc))
		}
		if v := doc.Get("metadata"); v.Kind() != document.Map && !v.IsAbsent() && !v.IsNull() {
			return invalid(fieldset.Names("metadata"), "expected a map, received %s", describe(v))
		}
	}
	return nil
}

// invalid returns an InvalidError for one field.
func invalid(path fieldset.Path, format string, args ...any) error {
	return &InvalidError{[]FieldError{{path, fmt.Sprintf(format, args...)}}}
}

// withoutManagedFields removes metadata.managedFields from a document, because an Object has its entries in a
// separate field.
func withoutManagedFields(doc document.Value) document.Value {
	metadata := doc.Get("metadata")
	if metadata.Get("managedFields").IsAbsent() {
		return doc
	}
	return doc.With("metadata", metadata.Without("managedFields"))
}
