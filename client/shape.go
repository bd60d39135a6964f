package client

import "strings"

// The position of the objects in a response depends on its shape:
//
//	{metadata: …}                          an object
//	{items: [{metadata: …}, …]}            a list
//	{rows: [{object: {metadata: …}}, …]}   a table
//	{object: …}                            a watch event, whose object is an object, a list or a table
//
// All encodings except protobuf use these field names. Objects may have fields of their own with the names items, rows and
// object, so the shape of a response is determined before managedFields are removed.
const (
	kindField          = "kind"
	apiVersionField    = "apiVersion"
	metadataField      = "metadata"
	nameField          = "name"
	uidField           = "uid"
	itemsField         = "items"
	objectField        = "object"
	rowsField          = "rows"
	managedFieldsField = "managedFields"
)

// shape determines where the objects of a response are.
type shape uint8

const (
	objectShape shape = iota // the response is one object
	listShape                // the response is a list of objects, or an object without name and uid
	tableShape               // the response is a Table of objects
)

// shapeTraits holds the properties that determine the shape of a response. A Table is recognized by its kind and API group.
// A list may have any kind, but unlike stored objects it has neither name nor uid. Objects that are not stored, such as a
// SubjectAccessReview, have neither name nor uid as well; they are treated as lists, where managedFields are also removed
// from the metadata of the list itself.
type shapeTraits struct {
	kind, apiVersion string
	hasMetadata      bool // reports whether metadata was found
	hasName          bool // reports whether metadata contains a name or uid
}

// set stores the value of the field with the given name, which is kind or apiVersion.
func (s *shapeTraits) set(name, value string) {
	if name == kindField {
		s.kind = value
	} else {
		s.apiVersion = value
	}
}

// complete reports whether all fields that determine the shape have been found. The remaining fields need not be scanned
// then.
func (s *shapeTraits) complete() bool { return s.hasMetadata && s.kind != "" && s.apiVersion != "" }

// shape returns the shape of a response with these properties.
func (s *shapeTraits) shape() shape {
	switch {
	case s.kind == "Table" && strings.HasPrefix(s.apiVersion, "meta.k8s.io/"):
		return tableShape
	case s.hasName:
		return objectShape
	}
	return listShape
}
