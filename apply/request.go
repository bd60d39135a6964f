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
	// Version is the version of all documents of the write. The caller converts the live object to it.
	Version string
	// Time is the time of the request; entries keep it to the second.
	Time time.Time
	// Force takes over all conflicting fields.
	Force bool
	// ForcePaths takes over the conflicting fields at or below these paths; the empty path is the whole object.
	ForcePaths []fieldset.Path
	// Empty is the object of this version in which no field is set, such as structs that are always encoded. When an
	// object without managedFields is first applied to, only fields that differ from Empty get an owner. It may be
	// absent.
	Empty document.Value
}

// checkConfiguration refuses what can't be applied whatever the kind is.
func checkConfiguration(config document.Value, r Request) error {
	managedFields := config.Lookup("metadata", "managedFields")
	switch {
	case r.Manager == "":
		return fmt.Errorf("apply: expected the name of a field manager, received none; appliers must have one")
	case config.Kind() != document.Map:
		return invalid(nil, "expected an object, received %s", describe(config))
	case !managedFields.IsAbsent() && !managedFields.IsNull():
		return invalid(fieldset.Names("metadata", "managedFields"), "expected nothing, as the server keeps it; remove it from the configuration")
	}
	return nil
}

// checkDocuments refuses documents that are no objects, or not at the version of the
// request.
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

func invalid(path fieldset.Path, format string, args ...any) error {
	return &InvalidError{[]FieldError{{path, fmt.Sprintf(format, args...)}}}
}

// withoutManagedFields makes sure that a document does not have what Object keeps
// beside it.
func withoutManagedFields(doc document.Value) document.Value {
	metadata := doc.Get("metadata")
	if metadata.Get("managedFields").IsAbsent() {
		return doc
	}
	return doc.With("metadata", metadata.Without("managedFields"))
}
