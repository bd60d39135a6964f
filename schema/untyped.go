package schema

// Untyped is the topology of a field without a declared schema. It is deduced from the value: maps are granular; lists
// and everything inside of them are atomic.
var Untyped = func() *Type {
	deduced := &Type{Name: "untyped", Scalar: AnyScalar}
	deduced.List = &List{Relationship: Atomic, Item: Opaque}
	deduced.Map = &Map{Element: deduced}
	return deduced
}()

// Opaque is the topology of a field whose value, of any shape, is atomic at every level.
var Opaque = func() *Type {
	opaque := &Type{Name: "opaque", Scalar: AnyScalar}
	opaque.List = &List{Relationship: Atomic, Item: opaque}
	opaque.Map = &Map{Atomic: true, Element: opaque}
	return opaque
}()
