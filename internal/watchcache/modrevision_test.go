package watchcache

import "testing"

// TestModRevision: a copy that WithRevision returns has the ModRevision of the original object.
func TestModRevision(t *testing.T) {
	rc := &resourceCache{name: "core/configmaps"}
	o, err := newObject(rc, "core/configmaps/default/a", []byte(`{"metadata":{"name":"a","namespace":"default"}}`), 7)
	if err != nil {
		t.Fatal(err)
	}
	moved := o.WithRevision(9).WithRevision(12)
	if o.ModRevision() != 7 || moved.ModRevision() != 7 || moved.Revision() != 12 {
		t.Errorf("ModRevision() = %d, ModRevision() of WithRevision(%d) = %d, want 7 for both", o.ModRevision(), moved.Revision(), moved.ModRevision())
	}
}

// TestModRevisionOfReplacedObject: if an object is replaced before its Commit returns, Commit returns it with the revision of
// its own commit.
func TestModRevisionOfReplacedObject(t *testing.T) {
	c := openCache(t, openStore(t), Options{})
	key := podKey("default", "web")
	put(t, c, key, pod("web", "", "", 1))
	late, err := newObject(c.resource(pods), key.String(), pod("web", "", "", 2), 0)
	if err != nil {
		t.Fatal(err)
	}
	if back := c.committedObject(late, 7); back.Revision() != 7 || back.ModRevision() != 7 {
		t.Errorf("Revision() = %d, ModRevision() = %d, want 7 for both", back.Revision(), back.ModRevision())
	}
}
