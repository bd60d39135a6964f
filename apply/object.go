package apply

import (
	"fmt"
	"time"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
)

// Object is a Kubernetes object: its document without managedFields, and the decoded managedFields entries. The zero
// Object is an object that does not exist yet.
type Object struct {
	Document document.Value
	Entries  []Entry
}

// unlimitedSize disables the size limit of parsing: a stored object may be larger than the largest request body,
// because managedFields are added to it.
var unlimitedSize = document.Limits{MaxBytes: -1}

// ReadObject parses an object from JSON of any size. It returns a [*document.SyntaxError] if the text is not JSON, and
// an [*EntryError] if metadata.managedFields is invalid.
func ReadObject[T document.Text](text T) (Object, error) {
	doc, err := fastdoc.ParseJSONExcept(text, unlimitedSize, fastdoc.FieldsV1Path...)
	if err != nil {
		return Object{}, err
	}
	return SplitObject(doc)
}

// SplitObject splits a document into the document without metadata.managedFields and the decoded managed fields
// entries. It returns an [*EntryError] if managedFields is invalid.
func SplitObject(doc document.Value) (Object, error) {
	metadata := doc.Get("metadata")
	list := metadata.Get("managedFields")
	if list.IsAbsent() {
		return Object{Document: doc}, nil
	}
	entries, err := readEntryList(list)
	if err != nil {
		return Object{}, err
	}
	return Object{Document: doc.With("metadata", metadata.Without("managedFields")), Entries: entries}, nil
}

// readEntryList decodes metadata.managedFields. It returns nil for null, and an EntryError for the first invalid entry.
func readEntryList(list document.Value) ([]Entry, error) {
	if list.IsNull() {
		return nil, nil
	}
	if list.Kind() != document.List {
		return nil, &EntryError{Index: -1, Problem: "expected a list of entries, received " + describe(list)}
	}
	entries := make([]Entry, list.Len())
	for i, item := range list.Items() {
		entry, problem := readEntry(item)
		if problem != "" {
			return nil, &EntryError{Index: i, Problem: problem}
		}
		entries[i] = entry
	}
	return entries, nil
}

// readEntry decodes a managedFields entry. The field set remains encoded; Entry.Fields decodes it. problem is empty if
// the entry is valid.
func readEntry(v document.Value) (e Entry, problem string) {
	if v.Kind() != document.Map {
		return e, "expected a map, received " + describe(v)
	}
	fieldsType := ""
	for name, field := range v.Fields() {
		switch name {
		case "manager", "operation", "apiVersion", "subresource", "fieldsType":
			if field.Kind() != document.String && !field.IsNull() {
				return e, name + ": expected a string, received " + describe(field)
			}
		}
		switch name {
		case "manager":
			e.Manager = field.Text()
		case "operation":
			e.Operation = Operation(field.Text())
		case "apiVersion":
			e.APIVersion = field.Text()
		case "subresource":
			e.Subresource = field.Text()
		case "fieldsType":
			fieldsType = field.Text()
		case "fieldsV1":
			e.FieldsV1 = field.JSON()
		case "time":
			if field.IsNull() {
				continue
			}
			var err error
			if e.Time, err = time.Parse(time.RFC3339, field.Text()); err != nil {
				return e, "time: expected a time such as 2026-01-02T15:04:05Z, received " + describe(field)
			}
		}
	}
	switch {
	case e.Operation != Apply && e.Operation != Update:
		return e, fmt.Sprintf("expected operation Apply or Update, received %q", string(e.Operation))
	case e.APIVersion == "":
		return e, "expected an apiVersion, received none"
	case fieldsType != "FieldsV1":
		return e, fmt.Sprintf("expected fieldsType FieldsV1, received %q", fieldsType)
	}
	if e.FieldsV1 == "" || e.FieldsV1 == "null" {
		e.FieldsV1 = emptyFieldsV1
	}
	return e, ""
}

// AppendJSON appends the object as canonical JSON, managedFields included.
func (o Object) AppendJSON(dst []byte) []byte {
	if len(o.Entries) == 0 {
		return o.Document.AppendJSON(dst)
	}
	return appendMapWith(dst, o.Document, "metadata", func(dst []byte) []byte {
		return appendMapWith(dst, o.Document.Get("metadata"), "managedFields", func(dst []byte) []byte {
			return appendEntries(dst, o.Entries)
		})
	})
}

// appendMapWith appends the map m as JSON to dst, with the output of write as the value of the field name. It adds the
// field if m does not contain it.
func appendMapWith(dst []byte, m document.Value, name string, write func(dst []byte) []byte) []byte {
	dst = append(dst, '{')
	at, found := m.Find(name)
	for i := range at {
		dst = appendField(dst, m.Name(i), m.At(i))
	}
	dst = document.AppendString(appendSeparator(dst), name)
	dst = write(append(dst, ':'))
	if found {
		at++
	}
	for i := at; i < m.Len(); i++ {
		dst = appendField(dst, m.Name(i), m.At(i))
	}
	return append(dst, '}')
}

func appendField(dst []byte, name string, v document.Value) []byte {
	dst = document.AppendString(appendSeparator(dst), name)
	return v.AppendJSON(append(dst, ':'))
}

// appendSeparator appends a comma unless dst ends with an opening brace or bracket.
func appendSeparator(dst []byte) []byte {
	if last := dst[len(dst)-1]; last == '{' || last == '[' {
		return dst
	}
	return append(dst, ',')
}

func appendEntries(dst []byte, entries []Entry) []byte {
	dst = append(dst, '[')
	for _, e := range entries {
		dst = e.appendJSON(appendSeparator(dst))
	}
	return append(dst, ']')
}

func (e Entry) appendJSON(dst []byte) []byte {
	dst = append(dst, `{"apiVersion":`...)
	dst = document.AppendString(dst, e.APIVersion)
	dst = append(dst, `,"fieldsType":"FieldsV1","fieldsV1":`...)
	dst = append(dst, e.FieldsV1...)
	dst = append(dst, `,"manager":`...)
	dst = document.AppendString(dst, e.Manager)
	dst = append(dst, `,"operation":`...)
	dst = document.AppendString(dst, string(e.Operation))
	if e.Subresource != "" {
		dst = append(dst, `,"subresource":`...)
		dst = document.AppendString(dst, e.Subresource)
	}
	if !e.Time.IsZero() {
		dst = append(dst, `,"time":"`...)
		dst = e.Time.UTC().AppendFormat(dst, time.RFC3339)
		dst = append(dst, '"')
	}
	return append(dst, '}')
}

// JSON returns the object as canonical JSON, managedFields included.
func (o Object) JSON() string { return string(o.AppendJSON(make([]byte, 0, o.JSONSize()))) }

// JSONSize returns an estimate of the length of [Object.JSON], for allocating a buffer.
func (o Object) JSONSize() int {
	size := o.Document.JSONSize()
	for _, e := range o.Entries {
		size += len(e.FieldsV1) + len(e.Manager) + len(e.APIVersion) + len(e.Subresource) + 160
	}
	return size
}
