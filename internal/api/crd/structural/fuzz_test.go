package structural

import (
	"testing"

	"github.com/cadastre/cadastre/document"
)

// FuzzType checks that no schema or object causes a panic, that node.accepts and the reporter agree whether an object is
// valid, and that decoding and defaulting are idempotent.
func FuzzType(f *testing.F) {
	for _, test := range decodeTests {
		f.Add(schemaOf(test.schema), testObject(test.sent), testObject(test.want))
	}
	for _, test := range invalidObjects {
		f.Add(schemaOf(test.schema), testObject(test.spec), testObject(`{}`))
	}
	for _, test := range updateTests {
		f.Add(schemaOf(test.schema), testObject(test.now), testObject(test.old))
	}
	f.Fuzz(func(t *testing.T, schema, value, old string) {
		s, err := document.ParseJSON(schema)
		if err != nil {
			return
		}
		typ, err := Compile(s, options)
		if err != nil {
			return
		}
		typ.rules = nil // skip CEL rules, which Kubernetes' library evaluates slowly
		obj, ok := readOnce(t, typ, value)
		was, isOld := readOnce(t, typ, old)
		if !ok {
			return
		}
		accepted, errs := typ.root.accepts(obj), typ.root.report(obj, document.Value{}, "")
		if accepted != (len(errs) == 0) {
			t.Errorf("schema %s\nobject %s\naccepts() = %v and report() = %v, want errors if and only if accepts() is false", schema, obj, accepted, errs)
		}
		typ.Validate(obj, document.Value{})
		if isOld {
			typ.Validate(obj, was)
			typ.ValidateStatus(obj, was)
		}
	})
}

func readOnce(t *testing.T, typ *Type, text string) (document.Value, bool) {
	v, err := document.ParseJSON(text)
	if err != nil {
		return v, false
	}
	read, _, err := typ.Decode(v)
	if err != nil {
		return v, false
	}
	filled := typ.Default(read)
	if again := typ.Default(filled); !document.Same(again, filled) {
		t.Errorf("Default(Default(%s)) = %s,\nwant %s", text, again, filled)
	}
	again, unknown, err := typ.Decode(read)
	if err != nil || len(unknown) > 0 || !document.Equal(again, read) {
		t.Errorf("Decode(Decode(%s)) = %s, %q, %v,\nwant %s without unknown fields", text, again, unknown, err, read)
	}
	return filled, true
}
