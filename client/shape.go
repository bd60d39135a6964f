package client

import "strings"

// Objects in a response:
//
//	{metadata: …}                          an object
//	{items: [{metadata: …}, …]}            a list
//	{rows: [{object: {metadata: …}}, …]}   a table
//	{object: …}                            a watch event, which has any of these
//
// All encodings but protobuf use these names. Objects may have other fields with these names, so the shape of a
// response is determined first.
const (
	inKind          = "kind"
	inAPIVersion    = "apiVersion"
	inMetadata      = "metadata"
	inName          = "name"
	inUID           = "uid"
	inItems         = "items"
	inObject        = "object"
	inRows          = "rows"
	inManagedFields = "managedFields"
)

// shape is the shape of a response.
type shape uint8

const (
	isObject shape = iota
	isList
	isTable
)

// shapeTraits are the fields that determine the shape of a response. A Table has its API kind. A list may have any
// kind, but unlike stored objects it has neither name nor uid. Objects that are not stored, such as a
// SubjectAccessReview, have neither name nor uid, too; they are treated as lists, which also strips their metadata.
type shapeTraits struct {
	kind, apiVersion     string
	hasMetadata, hasName bool
}

// note stores the kind or the API version.
func (s *shapeTraits) note(name, value string) {
	if name == inKind {
		s.kind = value
	} else {
		s.apiVersion = value
	}
}

// complete reports whether the remaining fields can't change the shape.
func (s *shapeTraits) complete() bool { return s.hasMetadata && s.kind != "" && s.apiVersion != "" }

func (s *shapeTraits) shape() shape {
	switch {
	case s.kind == "Table" && strings.HasPrefix(s.apiVersion, "meta.k8s.io/"):
		return isTable
	case s.hasName:
		return isObject
	}
	return isList
}
