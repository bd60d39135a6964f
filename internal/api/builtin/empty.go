package builtin

import "github.com/cadastre/cadastre/document"

// Empty returns the encoding of the zero value of the Go struct. kube-apiserver determines the fields that a create owns by
// comparing the new object with this value, so no field manager owns structs that Go always encodes.
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
