package ownership

import (
	"errors"
	"fmt"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
)

// Patch returns a JSON patch that replaces the managedFields of an object and changes nothing else. It includes the
// resourceVersion of the object: if the object was written in the meantime, the server responds with a conflict, and
// the caller must read the object again. Patch fails if the object has no resourceVersion.
func Patch(o apply.Object, entries []apply.Entry) ([]byte, error) {
	revision := o.Document.Lookup("metadata", "resourceVersion")
	if revision.Text() == "" {
		return nil, errors.New("metadata.resourceVersion must be set, so that concurrent writes are detected; read the object from the server")
	}
	list, err := managedFieldsList(entries)
	if err != nil {
		return nil, err
	}
	patch := document.NewList(
		replaceOperation("/metadata/managedFields", list),
		// If the patched resourceVersion differs from the stored one, the server responds with 409 Conflict. A failed test
		// operation would result in 422 Invalid instead.
		replaceOperation("/metadata/resourceVersion", revision),
	)
	return patch.AppendJSON(nil), nil
}

// replaceOperation returns the operation of a JSON patch that replaces the value at a JSON pointer.
func replaceOperation(path string, value document.Value) document.Value {
	return document.NewMap(
		document.Field{Name: "op", Value: document.NewString("replace")},
		document.Field{Name: "path", Value: document.NewString(path)},
		document.Field{Name: "value", Value: value},
	)
}

// managedFieldsList returns the value of metadata.managedFields with the given entries. If there are none, the list
// contains one empty entry, which makes the server reset managedFields; the server would ignore an empty list.
func managedFieldsList(entries []apply.Entry) (document.Value, error) {
	if len(entries) == 0 {
		return document.NewList(document.NewMap()), nil
	}
	text := apply.Object{Document: document.NewMap(), Entries: entries}.JSON()
	doc, err := fastdoc.ParseJSONExcept(text, document.Limits{MaxBytes: -1}, fastdoc.FieldsV1Path...)
	if err != nil {
		return document.Value{}, fmt.Errorf("encode managedFields: %w", err)
	}
	return doc.Lookup("metadata", "managedFields"), nil
}
