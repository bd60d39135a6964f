package cache

import "testing"

// TestWritten: an object that is told at another revision, and at yet another, was written when it was.
func TestWritten(t *testing.T) {
	k := &kind{name: "core/configmaps"}
	o, err := newObject(k, "core/configmaps/default/a", []byte(`{"metadata":{"name":"a","namespace":"default"}}`), 7)
	if err != nil {
		t.Fatal(err)
	}
	moved := o.At(9).At(12)
	if o.Written() != 7 || moved.Written() != 7 || moved.Revision() != 12 {
		t.Errorf("the object was written at %d; moved to %d, it was written at %d", o.Written(), moved.Revision(), moved.Written())
	}
}
