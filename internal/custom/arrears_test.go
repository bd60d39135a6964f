package custom

import (
	"testing"
	"time"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/internal/cache"
)

// TestEntriesInArrears: an entry that was written since is another one, and so is one of another object by the same name.
func TestEntriesInArrears(t *testing.T) {
	noon := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	entry := apply.Entry{Manager: "m", Operation: apply.Update, APIVersion: "example.com/v2", Subresource: "status", Time: noon, FieldsV1: `{"f:a":{}}`}
	key := cache.Key{Namespace: "default", Name: "one"}
	a := arrears{generation: 5, objects: map[cache.Key]arrear{key: {UID: "1", Entries: []arrearsEntry{newArrearsEntry(entry, 3)}}}}
	other := func(change func(*apply.Entry)) apply.Entry {
		changed := entry
		change(&changed)
		return changed
	}
	for _, test := range []struct {
		name  string
		key   cache.Key
		uid   string
		entry apply.Entry
		want  bool
	}{
		{"the same", key, "1", entry, true},
		{"told in another zone", key, "1", other(func(e *apply.Entry) { e.Time = noon.In(time.FixedZone("", 3600)) }), true},
		{"with less", key, "1", other(func(e *apply.Entry) { e.FieldsV1 = "{}" }), true},
		{"written since", key, "1", other(func(e *apply.Entry) { e.Time = noon.Add(time.Second) }), false},
		{"of somebody else", key, "1", other(func(e *apply.Entry) { e.Manager = "n" }), false},
		{"by another operation", key, "1", other(func(e *apply.Entry) { e.Operation = apply.Apply }), false},
		{"at another version", key, "1", other(func(e *apply.Entry) { e.APIVersion = "example.com/v1" }), false},
		{"of the object", key, "1", other(func(e *apply.Entry) { e.Subresource = "" }), false},
		{"of another object", key, "2", entry, false},
		{"elsewhere", cache.Key{Name: "one"}, "1", entry, false},
	} {
		if generation, ok := a.generationOf(test.key, test.uid, test.entry); ok != test.want || ok && generation != 3 {
			t.Errorf("%s: it is in arrears: %t, of generation %d", test.name, ok, generation)
		}
	}
}
