package builtin

import "github.com/cadastre/cadastre/document"

// Empty returns what Go writes for a struct that nobody has set anything in. That is what
// kube-apiserver compares a new object with to find out what its writer owns, so that nobody owns
// a struct that is always there.
func (t *Type) Empty() document.Value {
	var fields []document.Field
	for i := range t.Fields {
		f := &t.Fields[i]
		switch {
		case !f.Always:
		case f.zeroIsNull():
			fields = append(fields, document.Field{Name: f.Name, Value: document.NewNull()})
		case f.Type.Kind == Struct:
			fields = append(fields, document.Field{Name: f.Name, Value: f.Type.Empty()})
		default:
			fields = append(fields, document.Field{Name: f.Name, Value: f.Type.zero()})
		}
	}
	return document.NewMap(fields...)
}
