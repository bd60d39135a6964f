package applyruntime

import (
	"slices"
	"strings"
)

// MarkerKey and MarkerValue are the only field of an unset marker.
const (
	MarkerKey   = "k8s_io__value"
	MarkerValue = "unset"
)

// Marks are the fields, map entries and the list item that one struct marks as unset. The zero value and nil
// contain none. Its fields are exported, so that apply configurations can be compared by reflection.
type Marks struct {
	// Fields are the JSON names of unset fields, sorted.
	Fields []string
	// Entries are the unset keys of maps by the JSON name of the map, each list sorted.
	Entries map[string][]string
	// Item means that the struct is an item of a list of type map that must be absent.
	Item bool
}

// WithField marks a field as unset, removes the marks of its map entries, and returns m, or new marks if m is nil.
func (m *Marks) WithField(name string) *Marks {
	if m == nil {
		m = &Marks{}
	}
	delete(m.Entries, name)
	m.Fields = insert(m.Fields, name)
	return m
}

// WithEntry marks an entry of a map as unset, removes the mark of the map itself, and returns m, or new marks if m is nil.
func (m *Marks) WithEntry(field, key string) *Marks {
	if m == nil {
		m = &Marks{}
	}
	if i, found := slices.BinarySearch(m.Fields, field); found {
		m.Fields = slices.Delete(m.Fields, i, i+1)
	}
	if m.Entries == nil {
		m.Entries = map[string][]string{}
	}
	m.Entries[field] = insert(m.Entries[field], key)
	return m
}

// WithItem marks the struct itself, an item of a list, as unset, and returns m, or new marks if m is nil.
func (m *Marks) WithItem() *Marks {
	if m == nil {
		m = &Marks{}
	}
	m.Item = true
	return m
}

// HasField reports whether a field is marked.
func (m *Marks) HasField(name string) bool {
	if m == nil {
		return false
	}
	_, found := slices.BinarySearch(m.Fields, name)
	return found
}

// EntriesOf returns the marked keys of a map, sorted. The caller must not modify the result.
func (m *Marks) EntriesOf(field string) []string {
	if m == nil {
		return nil
	}
	return m.Entries[field]
}

func (m *Marks) isItem() bool { return m != nil && m.Item }

func insert(sorted []string, name string) []string {
	if i, found := slices.BinarySearch(sorted, name); !found {
		return slices.Insert(sorted, i, name)
	}
	return sorted
}

// Error is the error for an apply configuration that cannot be marshalled, or an object from which it cannot be extracted.
type Error struct {
	// Path is the path of the value, such as spec.ports[0]; it is empty for the whole document.
	Path     string
	Expected string
	Received string
}

func (e *Error) Error() string {
	prefix := ""
	if e.Path != "" {
		prefix = e.Path + ": "
	}
	return prefix + "expected " + e.Expected + ", received " + e.Received
}

// prefixPath returns err with element prepended to the path of an Error; it returns other errors unchanged.
func prefixPath(element string, err error) error {
	e, ok := err.(*Error)
	if !ok {
		return err
	}
	path := e.Path
	if path != "" && !strings.HasPrefix(path, "[") {
		path = "." + path
	}
	return &Error{element + path, e.Expected, e.Received}
}
