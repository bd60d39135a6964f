package watchcache

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

// TestWrittenAndReplaced: an object that its writer gets back after another has replaced it was written by the writer's
// commit.
func TestWrittenAndReplaced(t *testing.T) {
	c := openCache(t, openStore(t), Options{})
	key := podKey("default", "web")
	put(t, c, key, pod("web", "", "", 1))
	late, err := newObject(c.kind(pods), key.String(), pod("web", "", "", 2), 0)
	if err != nil {
		t.Fatal(err)
	}
	if back := c.written(late, 7); back.Revision() != 7 || back.Written() != 7 {
		t.Errorf("the object at %d was written at %d, expected 7 for both", back.Revision(), back.Written())
	}
}
