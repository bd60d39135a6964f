package ownership

import (
	"errors"
	"fmt"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
)

// Patch returns a JSON patch that replaces the managedFields of an object and changes nothing else. It includes the
// resourceVersion of the object: if the object was written in the meantime, the server responds with a conflict and
// the caller must read the object again. Patch fails if the object has no resourceVersion.
func Patch(o apply.Object, entries []apply.Entry) ([]byte, error) {
	revision := o.Document.Lookup("metadata", "resourceVersion")
	if revision.Text() == "" {
		return nil, errors.New("expected an object with metadata.resourceVersion, as a server answers it; received one without, so that a patch could undo what others write")
	}
	list, err := managedFields(entries)
	if err != nil {
		return nil, err
	}
	patch := document.NewList(
		replace("/metadata/managedFields", list),
		// A server compares the revision with the one that it has when it writes. A test would be
		// refused as a bad request instead of as a conflict.
		replace("/metadata/resourceVersion", revision),
	)
	return patch.AppendJSON(nil), nil
}

func replace(path string, value document.Value) document.Value {
	return document.NewMap(
		document.Field{Name: "op", Value: document.NewString("replace")},
		document.Field{Name: "path", Value: document.NewString(path)},
		document.Field{Name: "value", Value: value},
	)
}

// managedFields returns entries as an object has them. No entries at all are written as a single empty
// one: servers take an empty list for a client that does not know about managedFields, and keep theirs.
func managedFields(entries []apply.Entry) (document.Value, error) {
	if len(entries) == 0 {
		return document.NewList(document.NewMap()), nil
	}
	text := apply.Object{Document: document.NewMap(), Entries: entries}.JSON()
	doc, err := fastdoc.ParseJSONExcept(text, document.Limits{MaxBytes: -1}, fastdoc.FieldsV1Path...)
	if err != nil {
		return document.Value{}, fmt.Errorf("entries that can't be written: %w", err)
	}
	return doc.Lookup("metadata", "managedFields"), nil
}
