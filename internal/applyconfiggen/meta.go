package applyconfiggen

// metadata contains the structs that the apply configuration of every kind embeds.
type metadata struct{ typeMeta, objectMeta, ownerReference *Type }

// newMetadata returns the metadata structs for kinds without Go types, in which UIDs are strings and times are time.Time.
func newMetadata() *metadata {
	text, number, timestamp := leaf("", "string"), leaf("", "int64"), leaf("time", "Time")
	texts := &Expr{Shape: Map, Key: GoName{"", "string"}, Elem: text}
	owner := &Type{Package: metaPath, Name: "OwnerReference", Atomic: true, Item: true, Fields: []*Field{
		{Name: "APIVersion", JSON: "apiVersion", Type: text}, {Name: "Kind", JSON: "kind", Type: text}, {Name: "Name", JSON: "name", Type: text},
		{Name: "UID", JSON: "uid", Type: text}, {Name: "Controller", JSON: "controller", Type: leaf("", "bool")},
		{Name: "BlockOwnerDeletion", JSON: "blockOwnerDeletion", Type: leaf("", "bool")},
	}}
	typeMeta := &Type{Package: metaPath, Name: "TypeMeta", Fields: []*Field{
		{Name: "Kind", JSON: "kind", Type: text, Fixed: true}, {Name: "APIVersion", JSON: "apiVersion", Type: text, Fixed: true},
	}}
	objectMeta := &Type{Package: metaPath, Name: "ObjectMeta", Fields: []*Field{
		{Name: "Name", JSON: "name", Type: text, Fixed: true}, {Name: "GenerateName", JSON: "generateName", Type: text, Fixed: true},
		{Name: "Namespace", JSON: "namespace", Type: text, Fixed: true}, {Name: "UID", JSON: "uid", Type: text, Fixed: true},
		{Name: "ResourceVersion", JSON: "resourceVersion", Type: text, Fixed: true},
		{Name: "Generation", JSON: "generation", Type: number, Fixed: true},
		{Name: "CreationTimestamp", JSON: "creationTimestamp", Type: timestamp, Fixed: true},
		{Name: "DeletionTimestamp", JSON: "deletionTimestamp", Type: timestamp, Fixed: true},
		{Name: "DeletionGracePeriodSeconds", JSON: "deletionGracePeriodSeconds", Type: number, Fixed: true},
		{Name: "Labels", JSON: "labels", Type: texts}, {Name: "Annotations", JSON: "annotations", Type: texts},
		{Name: "OwnerReferences", JSON: "ownerReferences", Merge: "map,uid", Type: &Expr{
			Shape: List, Elem: &Expr{Shape: Struct, Name: GoName{metaPath, "OwnerReference"}, Target: owner},
		}},
		{Name: "Finalizers", JSON: "finalizers", Merge: "set", Type: &Expr{Shape: List, Elem: text}},
	}}
	return &metadata{typeMeta, objectMeta, owner}
}

// metaPackage returns the package with the structs of newMetadata, which generated code for kinds without Go types imports.
func metaPackage() *Package {
	m := newMetadata()
	return &Package{Path: metaPath, Name: "v1", Doc: "the metadata of objects", Types: []*Type{m.typeMeta, m.objectMeta, m.ownerReference}}
}
