package differential

import "github.com/cadastre/cadastre/document"

// This file has what a body can say about the object as it is: which one it was, and who owns what in it.

// withCondition sometimes names the object that is meant, by its uid or its revision. Often it is the one that is there.
func (g *generator) withCondition(s Step) Step {
	if s.Body.Kind() != document.Map || !g.chance(6) {
		return s
	}
	conditions := []document.Field{
		{Name: "resourceVersion", Value: document.NewString("1")},
		{Name: "uid", Value: document.NewString("3ff8e3a7-7b4f-4f6b-9d0e-1c9a54c7d4f0")},
	}
	if g.isMade {
		conditions = append(conditions,
			document.Field{Name: "resourceVersion", Value: document.NewString("$resourceVersion")},
			document.Field{Name: "uid", Value: document.NewString("$uid")})
	}
	return s.withMetadata(one(g, conditions))
}

// withOwners sometimes writes the list of owners: to empty it, or to be another one. Appliers never may.
func (g *generator) withOwners(s Step) Step {
	if s.Body.Kind() != document.Map || s.Verb == "APPLY" || !g.chance(6) {
		return s
	}
	written := document.NewMap(
		document.Field{Name: "manager", Value: document.NewString(one(g, []string{"alice", "dave"}))},
		document.Field{Name: "operation", Value: document.NewString(one(g, []string{"Apply", "Update"}))},
		document.Field{Name: "apiVersion", Value: document.NewString(one(g, g.kind.versions).apiVersion)},
		document.Field{Name: "fieldsType", Value: document.NewString("FieldsV1")},
		document.Field{Name: "fieldsV1", Value: field("f:metadata", field("f:labels", field("f:"+one(g, []string{"x", "nothing"}), document.NewMap())))})
	lists := []document.Value{document.NewList(), document.NewList(document.NewMap()), document.NewList(written)}
	return s.withMetadata(document.Field{Name: "managedFields", Value: one(g, lists)})
}

func (s Step) withMetadata(f document.Field) Step {
	metadata := s.Body.Get("metadata")
	if metadata.Kind() != document.Map {
		metadata = document.NewMap()
	}
	s.Body = s.Body.With("metadata", metadata.With(f.Name, f.Value))
	return s
}
