package watchcache

import (
	"fmt"
	"testing"

	"github.com/cadastre/cadastre/document"
)

// TestMetadata: UID, IsDeleting, OwnerReferences and AwaitsFinalizer return the same values as the parsed document.
func TestMetadata(t *testing.T) {
	rc := testKind(nil)
	for i, metadata := range []string{
		`"name":"web"`,
		`"name":"web","uid":"u1"`,
		`"managedFields":[{"a":1}],"name":"web","namespace":"default","uid":"u1"`,
		`"name":"web","resourceVersion":"7","selfLink":"/x","uid":"u1"`,
		`"deletionTimestamp":"2026-01-01T00:00:00Z","name":"web","uid":"u1"`,
		`"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":[],"name":"web"`,
		`"annotations":{"finalizers":"[\"orphan\"]"},"creationTimestamp":null,"deletionGracePeriodSeconds":0,"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["a","orphan"],"name":"web"`,
		`"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["foregroundDeletion"],"managedFields":[{"orphan":["orphan"]}],"name":"web","ownerReferences":[{"kind":"X","uid":"]\""}],"uid":"u2"`,
		`"finalizers":["orphan"],"name":"web"`,
		`"name":"web","ownerReferences":[],"uid":"u"`,
		`"name":"web","ownerReferences":null,"uid":"u"`,
		`"labels":{"ownerReferences":"x"},"name":"web"`,
		`"name":"web","ownerReferences":[{"apiVersion":"v1"},{"uid":"u1"}],"resourceVersion":"3"`,
	} {
		text := fmt.Sprintf(`{"data":{"deletionTimestamp":"x"},"metadata":{%s},"spec":{"ownerReferences":[1],"uid":"no"}}`, metadata)
		o, err := newObject(rc, "core/pods/default/web", []byte(text), 9)
		if err != nil {
			t.Fatalf("newObject() of test object %d: error = %v, want nil", i, err)
		}
		doc, err := document.ParseJSON(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range []*Object{o, o.WithRevision(12)} {
			checkMetadata(t, o, doc.Get("metadata"))
		}
	}
}

func checkMetadata(t *testing.T, o *Object, metadata document.Value) {
	t.Helper()
	isDeleting := !metadata.Get("deletionTimestamp").IsAbsent()
	if got, want := o.UID(), metadata.Get("uid").Text(); got != want {
		t.Errorf("%s: UID() = %q, want %q", o.text, got, want)
	}
	if o.IsDeleting() != isDeleting {
		t.Errorf("%s: IsDeleting() = %t, want %t", o.text, o.IsDeleting(), isDeleting)
	}
	owners := ""
	if list := metadata.Get("ownerReferences"); list.Len() > 0 {
		owners = list.JSON()
	}
	if got := o.OwnerReferences(); got != owners {
		t.Errorf("%s: OwnerReferences() = %q, want %q", o.text, got, owners)
	}
	for _, finalizer := range []string{"orphan", "foregroundDeletion", "a"} {
		want := false
		for _, f := range metadata.Get("finalizers").Items() {
			want = want || isDeleting && f.Text() == finalizer
		}
		if got := o.AwaitsFinalizer(finalizer); got != want {
			t.Errorf("%s: AwaitsFinalizer(%s) = %t, want %t", o.text, finalizer, got, want)
		}
	}
}

func TestMetadataAllocatesNothing(t *testing.T) {
	o, err := newObject(testKind(nil), "core/pods/default/web", []byte(
		`{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["b"],"name":"web","ownerReferences":[{"uid":"x"}],"uid":"u"}}`), 9)
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { _, _, _ = o.UID(), o.OwnerReferences(), o.AwaitsFinalizer("orphan") }); n > 0 {
		t.Errorf("the metadata accessors allocate %v times, want 0", n)
	}
}
