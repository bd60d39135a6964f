package stored

import (
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/internal/encoding/encodingtest"
)

// TestEqualVersions compares the Go structs of the versions that are treated as equal.
func TestEqualVersions(t *testing.T) {
	types := encodingtest.Types()
	for from, to := range equalVersions {
		var structs [2]reflect.Type
		for i, version := range []string{from.apiVersion, to} {
			o, err := types.New(schema.FromAPIVersionAndKind(version, from.kind))
			if err != nil {
				t.Fatal(err)
			}
			structs[i] = reflect.TypeOf(o).Elem()
		}
		compareStructs(t, from.kind, structs[0], structs[1])
	}
}

// compareStructs checks that every field of the struct to, at a path, has the same tags and type as the field of from with the same name.
func compareStructs(t *testing.T, path string, from, to reflect.Type) {
	t.Helper()
	if from == to {
		return
	}
	if from.Kind() != to.Kind() {
		t.Errorf("%s is a %s and a %s, want the same", path, from, to)
		return
	}
	switch to.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		compareStructs(t, path, from.Elem(), to.Elem())
	case reflect.Struct:
		for i := range to.NumField() {
			field := to.Field(i)
			former, exists := from.FieldByName(field.Name)
			if !exists || former.Tag.Get("json") != field.Tag.Get("json") || former.Tag.Get("protobuf") != field.Tag.Get("protobuf") {
				t.Errorf("%s.%s has the tags %q before, want %q", path, field.Name, former.Tag, field.Tag)
				continue
			}
			compareStructs(t, path+"."+field.Name, former.Type, field.Type)
		}
	}
}
