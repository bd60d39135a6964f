package schema

// Untyped is the topology of a place about which nothing is declared: it is
// deduced from the value. Maps are granular, lists and what is inside them are
// atomic.
var Untyped = func() *Type {
	deduced := &Type{Name: "untyped", Scalar: AnyScalar}
	deduced.List = &List{Relationship: Atomic, Item: Opaque}
	deduced.Map = &Map{Element: deduced}
	return deduced
}()

// Opaque is the topology of a place that is atomic all the way down, whatever its
// value is.
var Opaque = func() *Type {
	opaque := &Type{Name: "opaque", Scalar: AnyScalar}
	opaque.List = &List{Relationship: Atomic, Item: opaque}
	opaque.Map = &Map{Atomic: true, Element: opaque}
	return opaque
}()
