package apiserver

import (
	"reflect"
	"testing"

	"github.com/cadastre/cadastre/internal/server/audit"
)

// TestAuditDefaults checks that the public defaults are those of the server.
func TestAuditDefaults(t *testing.T) {
	if got, want := DefaultAuditOptions().config(), audit.Defaults(); !reflect.DeepEqual(got, want) {
		t.Errorf("DefaultAuditOptions().config() = %+v, want %+v", got, want)
	}
}

// TestAuditConfig checks that no option is lost: with every public option set, every option of the server is set, except
// AsyncDelegate of the log, which is constant.
func TestAuditConfig(t *testing.T) {
	var o AuditOptions
	next := 0
	eachLeaf(reflect.ValueOf(&o).Elem(), "", func(_ string, v reflect.Value) {
		next++
		switch v.Kind() {
		case reflect.String:
			v.SetString(string(rune('a' + next)))
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Float32:
			v.SetFloat(float64(next))
		default:
			v.SetInt(int64(next))
		}
	})
	c := o.config()
	seen := map[any]string{}
	eachLeaf(reflect.ValueOf(&c).Elem(), "Options", func(path string, v reflect.Value) {
		switch {
		case v.IsZero() && path != "Options.Log.Delivery.Batch.AsyncDelegate":
			t.Errorf("%s is not set, want the value of the public option", path)
		case v.Kind() != reflect.Bool && seen[v.Interface()] != "":
			t.Errorf("%s has the value of %s, want a value of its own", path, seen[v.Interface()])
		}
		seen[v.Interface()] = path
	})
}

// eachLeaf calls do with the path and value of every field of v that is not a struct, recursively.
func eachLeaf(v reflect.Value, path string, do func(path string, v reflect.Value)) {
	if v.Kind() != reflect.Struct {
		do(path, v)
		return
	}
	for i := range v.NumField() {
		eachLeaf(v.Field(i), path+"."+v.Type().Field(i).Name, do)
	}
}
