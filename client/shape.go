package client

import "strings"

// The places of objects in a response:
//
//	{metadata: …}                          an object
//	{items: [{metadata: …}, …]}            a list
//	{rows: [{object: {metadata: …}}, …]}   a table
//	{object: …}                            a watch event, which has any of these
//
// All encodings but protobuf have these names. Objects may use them for fields of their own, so that the shape of a response
// is determined first.
const (
	inKind       = "kind"
	inAPIVersion = "apiVersion"
	inMetadata   = "metadata"
	inName       = "name"
	inUID        = "uid"
	inItems      = "items"
	inObject     = "object"
	inRows       = "rows"
	inManaged    = "managedFields"
)

// shape is what an answer is.
type shape uint8

const (
	isObject shape = iota
	isList
	isTable
)

// signs are what tells shapes apart. Tables are a kind of Kubernetes. A list may have a kind of any name, but unlike
// objects that are kept it has no name and no uid. Neither have objects that only ask something, such as a
// SubjectAccessReview: these have managedFields, and no items.
type signs struct {
	kind, apiVersion     string
	hasMetadata, hasName bool
}

// note takes the kind or the version.
func (s *signs) note(name, value string) {
	if name == inKind {
		s.kind = value
	} else {
		s.apiVersion = value
	}
}

// complete reports whether nothing more can change the shape.
func (s *signs) complete() bool { return s.hasMetadata && s.kind != "" && s.apiVersion != "" }

func (s *signs) shape() shape {
	switch {
	case s.kind == "Table" && strings.HasPrefix(s.apiVersion, "meta.k8s.io/"):
		return isTable
	case s.hasName:
		return isObject
	}
	return isList
}
