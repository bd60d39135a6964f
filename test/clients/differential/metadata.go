package differential

import "github.com/cadastre/cadastre/document"

// This file generates parts of bodies that refer to the existing object: preconditions and managedFields.

// withPrecondition sometimes adds a uid or resourceVersion to the metadata of the request. If the object exists, the
// value is often that of the object.
func (g *generator) withPrecondition(s Step) Step {
	if s.Body.Kind() != document.Map || !g.chance(6) {
		return s
	}
	conditions := []document.Field{
		{Name: "resourceVersion", Value: document.NewString("1")},
		{Name: "uid", Value: document.NewString("3ff8e3a7-7b4f-4f6b-9d0e-1c9a54c7d4f0")},
	}
	if g.exists {
		conditions = append(conditions,
			document.Field{Name: "resourceVersion", Value: document.NewString("$resourceVersion")},
			document.Field{Name: "uid", Value: document.NewString("$uid")})
	}
	return s.withMetadata(pick(g, conditions))
}

// withManagedFields sometimes sets managedFields to an empty list, or to a single entry of another field manager. It
// skips apply configurations, which must not contain managedFields.
func (g *generator) withManagedFields(s Step) Step {
	if s.Body.Kind() != document.Map || s.Verb == "APPLY" || !g.chance(6) {
		return s
	}
	written := document.NewMap(
		document.Field{Name: "manager", Value: document.NewString(pick(g, []string{"alice", "dave"}))},
		document.Field{Name: "operation", Value: document.NewString(pick(g, []string{"Apply", "Update"}))},
		document.Field{Name: "apiVersion", Value: document.NewString(pick(g, g.kind.versions).apiVersion)},
		document.Field{Name: "fieldsType", Value: document.NewString("FieldsV1")},
		document.Field{Name: "fieldsV1", Value: field("f:metadata", field("f:labels", field("f:"+pick(g, []string{"x", "nothing"}), document.NewMap())))})
	lists := []document.Value{document.NewList(), document.NewList(document.NewMap()), document.NewList(written)}
	return s.withMetadata(document.Field{Name: "managedFields", Value: pick(g, lists)})
}

func (s Step) withMetadata(f document.Field) Step {
	metadata := s.Body.Get("metadata")
	if metadata.Kind() != document.Map {
		metadata = document.NewMap()
	}
	s.Body = s.Body.With("metadata", metadata.With(f.Name, f.Value))
	return s
}
