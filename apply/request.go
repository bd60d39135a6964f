package apply

import (
	"fmt"
	"time"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
)

// Request says who writes, and how.
type Request struct {
	// Manager names the writer. Appliers must have a name; all others without
	// one are "unknown".
	Manager string
	// Subresource is the endpoint, "" for the main one.
	Subresource string
	// Version is the version that the documents are at, the live one included:
	// the caller converts it.
	Version string
	// Time is the time of the request; entries keep it to the second.
	Time time.Time
	// Force takes all conflicting fields over.
	Force bool
	// ForcePaths takes over only conflicting fields at or below these paths; the empty
	// path is the whole object.
	ForcePaths []fieldset.Path
	// Empty is what an object has at this version although nobody has set anything,
	// such as structs that are always there. Of an object that nobody owns yet, only
	// what differs from it gets an owner before the first apply. Absent means nothing.
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
