package builtin

import "github.com/cadastre/cadastre/document"

// Empty returns the JSON that Go encodes for the zero struct. kube-apiserver compares a new object with it to find the
// fields that the request sets, so that structs that are always written have no owner.
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
