package crdlint

import (
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// path is a JSON path in a definition or in an object.
type path string

func (p path) field(name string) path {
	if strings.ContainsAny(name, `.[]"`) || name == "" {
		return p + path("["+strconv.Quote(name)+"]")
	}
	if p == "" {
		return path(name)
	}
	return p + "." + path(name)
}

func (p path) index(i int) path { return p + path("["+strconv.Itoa(i)+"]") }

// visitor visits the schema of one version.
type visitor struct {
	name, version string
	findings      []Finding
	topologies    topologies
}

// node is a schema object with its paths and the effect of the enclosing lists and maps.
type node struct {
	schema document.Value
	// at is the path of the schema object in the definition, field the path of its values in an object.
	at, field path
	// inAtomic means that an enclosing list or map is atomic, so the topology of the schema object has no effect.
	inAtomic bool
}

// report adds a finding about the schema object.
func (v *visitor) report(n node, rule string, severity Severity, reason, fix string) {
	v.findings = append(v.findings, Finding{
		Definition: v.name, Version: v.version, Field: string(n.field), Path: string(n.at), Rule: rule, Severity: severity,
		Reason: reason, Fix: fix,
	})
}

// visitVersion visits the root schema of an entry of spec.versions. It skips apiVersion, kind and metadata, whose
// topology is fixed.
func (v *visitor) visitVersion(version document.Value, at path) {
	at = at.field("schema").field("openAPIV3Schema")
	root := node{schema: version.Lookup("schema", "openAPIV3Schema"), at: at}
	if root.schema.Kind() != document.Map {
		v.withoutSchema(root)
		return
	}
	v.statusSubresource(version, root)
	if preserves(root.schema) && root.schema.Get("properties").Len() == 0 {
		v.withoutSchema(root)
	}
	for name, property := range root.schema.Get("properties").Fields() {
		if name != "apiVersion" && name != "kind" && name != "metadata" {
			v.visit(node{schema: property, at: at.field("properties").field(name), field: path(name)})
		}
	}
}

// visit applies the rules to a schema object, and visits the schema objects in it. The depth of a parsed document is
// limited, and so is the depth of this recursion.
func (v *visitor) visit(n node) {
	if n.schema.Kind() != document.Map {
		return
	}
	v.topologies.add(n)
	switch {
	case isList(n.schema):
		v.list(n)
		inside := node{
			schema: n.schema.Get("items"), at: n.at.field("items"), field: n.field + "[]", inAtomic: n.inAtomic || isAtomicList(n.schema),
		}
		v.visit(inside)
	case isMap(n.schema):
		v.mapOrStruct(n)
		inAtomic := n.inAtomic || isAtomicMap(n.schema)
		for name, property := range n.schema.Get("properties").Fields() {
			v.visit(node{
				schema: property, at: n.at.field("properties").field(name), field: n.field.field(name), inAtomic: inAtomic,
			})
		}
		v.visit(node{
			schema: n.schema.Get("additionalProperties"), at: n.at.field("additionalProperties"), field: n.field + "[*]",
			inAtomic: inAtomic,
		})
	}
}

func isList(schema document.Value) bool { return schema.Get("type").Text() == "array" }

func isMap(schema document.Value) bool { return schema.Get("type").Text() == "object" }

func isScalar(schema document.Value) bool {
	switch schema.Get("type").Text() {
	case "string", "integer", "number", "boolean":
		return true
	}
	return schema.Get("x-kubernetes-int-or-string").Bool()
}

func listType(schema document.Value) string { return schema.Get("x-kubernetes-list-type").Text() }

func isAtomicList(schema document.Value) bool {
	t := listType(schema)
	return t == "" || t == "atomic"
}

func isAtomicMap(schema document.Value) bool {
	return schema.Get("x-kubernetes-map-type").Text() == "atomic"
}

func preserves(schema document.Value) bool {
	return schema.Get("x-kubernetes-preserve-unknown-fields").Bool()
}
