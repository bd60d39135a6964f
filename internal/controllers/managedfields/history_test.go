package managedfields

import (
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/crd"
	"github.com/cadastre/cadastre/internal/watchcache"
	"github.com/cadastre/cadastre/internal/watchcache/watchcachetest"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// TestPendingEntry: an entry that was written again is not pending; an entry of a new object with the name of a deleted
// object is not pending either.
func TestPendingEntry(t *testing.T) {
	entry := apply.Entry{Manager: "m", Operation: apply.Update, APIVersion: "example.com/v2", Subresource: "status", Time: noon, FieldsV1: `{"f:a":{}}`}
	key := watchcache.Key{Namespace: "default", Name: "one"}
	p := pending{generation: 5, objects: map[watchcache.Key]pendingObject{key: {UID: "1", Entries: []pendingEntry{newPendingEntry(entry, 3)}}}}
	other := func(change func(*apply.Entry)) apply.Entry {
		changed := entry
		change(&changed)
		return changed
	}
	for _, test := range []struct {
		name  string
		key   watchcache.Key
		uid   string
		entry apply.Entry
		want  bool
	}{
		{"same", key, "1", entry, true},
		{"another time zone", key, "1", other(func(e *apply.Entry) { e.Time = noon.In(time.FixedZone("", 3600)) }), true},
		{"fewer fields", key, "1", other(func(e *apply.Entry) { e.FieldsV1 = "{}" }), true},
		{"another time", key, "1", other(func(e *apply.Entry) { e.Time = noon.Add(time.Second) }), false},
		{"another manager", key, "1", other(func(e *apply.Entry) { e.Manager = "n" }), false},
		{"another operation", key, "1", other(func(e *apply.Entry) { e.Operation = apply.Apply }), false},
		{"another version", key, "1", other(func(e *apply.Entry) { e.APIVersion = "example.com/v1" }), false},
		{"another subresource", key, "1", other(func(e *apply.Entry) { e.Subresource = "" }), false},
		{"another UID", key, "2", entry, false},
		{"another namespace", watchcache.Key{Name: "one"}, "1", entry, false},
	} {
		if generation, ok := p.generationOf(test.key, test.uid, test.entry); ok != test.want || ok && generation != 3 {
			t.Errorf("%s: generationOf() = %d, %t; want 3, true for a pending entry; pending = %t", test.name, generation, ok, test.want)
		}
		want := int64(5)
		if test.want {
			want = 3
		}
		if got := (history{pending: p}).generationOf(test.key, test.uid, test.entry); got != want {
			t.Errorf("%s: history.generationOf() = %d, want %d", test.name, got, want)
		}
	}
	if got := p.oldest(); got != 3 {
		t.Errorf("oldest() = %d, want 3", got)
	}
}

// generationsOf returns previous generations with the given numbers and no schemas.
func generationsOf(numbers ...int64) (all []generation) {
	for _, n := range numbers {
		all = append(all, generation{Resource: crd.NewResource(&crd.Definition{Generation: n}, nil, nil)})
	}
	return all
}

func numbersOf(all []generation) (numbers []int64) {
	for _, g := range all {
		numbers = append(numbers, g.Generation)
	}
	return numbers
}

// TestHistory: before returns the generations that are older than the given generation, since returns the given and all later
// generations, and isMigrated compares the last generation with M.
func TestHistory(t *testing.T) {
	h := history{previous: generationsOf(2, 5, 9)}
	for _, test := range []struct {
		generation    int64
		before, since []int64
	}{
		{1, nil, []int64{2, 5, 9}},
		{2, nil, []int64{2, 5, 9}},
		{3, []int64{2}, []int64{5, 9}},
		{9, []int64{2, 5}, []int64{9}},
		{10, []int64{2, 5, 9}, nil},
	} {
		if got := numbersOf(h.before(test.generation).previous); !slices.Equal(got, test.before) {
			t.Errorf("before(%d) = %v, want %v", test.generation, got, test.before)
		}
		if got := numbersOf(h.since(test.generation)); !slices.Equal(got, test.since) {
			t.Errorf("since(%d) = %v, want %v", test.generation, got, test.since)
		}
	}
	for migrated, want := range map[int64]bool{0: false, 5: false, 9: false, 10: true} {
		h.pending.generation = migrated
		if got := h.isMigrated(); got != want {
			t.Errorf("isMigrated() with M = %d = %t, want %t", migrated, got, want)
		}
	}
	if h := (history{}); !h.isMigrated() || !h.isEmpty() {
		t.Error("isMigrated() or isEmpty() of an empty history = false, want true")
	}
}

// TestRecordPrevious: a generation is stored if entries may conform to a schema that its successor lacks.
func TestRecordPrevious(t *testing.T) {
	definition := func(versions string) document.Value {
		doc, err := document.ParseYAML([]byte(`{metadata: {name: widgets.example.com, uid: u, generation: 7}, spec: {versions: [` + versions + `]}}`))
		if err != nil {
			t.Fatal(err)
		}
		return doc
	}
	const v1, v1Changed, v1Unserved, v2 = `{name: v1, served: true, schema: {a: 1}}`, `{name: v1, served: true, schema: {a: 2}}`, `{name: v1, schema: {a: 1}}`, `{name: v2, served: true, schema: {a: 1}}`
	for _, test := range []struct {
		name, live, obj string
		want            bool
	}{
		{"schema changes", v1, v1Changed, true},
		{"version removed", v1 + "," + v2, v2, true},
		{"version added", v1, v1 + "," + v2, false},
		{"nothing changes", v1, v1, false},
		{"no longer served", v1, v1Unserved, true},
		{"was not served", v1Unserved, v1Changed, false},
	} {
		writes := RecordPrevious(definition(test.obj), definition(test.live))
		if (len(writes) == 1) != test.want {
			t.Errorf("%s: RecordPrevious() returned %d writes; returned one write = %t, want %t", test.name, len(writes), len(writes) == 1, test.want)
		}
		for _, w := range writes {
			if want := (watchcache.Key{Kind: generationRecords, Name: "u.7"}).String(); w.Key != want || !strings.Contains(string(w.Value), `"definition":{`) {
				t.Errorf("%s: RecordPrevious() = %s %s, want key %s", test.name, w.Key, w.Value, want)
			}
		}
	}
	if writes := append(RecordPrevious(definition(v1), document.Value{}), RecordPrevious(document.Value{}, definition(v1))...); len(writes) > 0 {
		t.Error("RecordPrevious() of a creation or deletion returned writes, want none")
	}
}

// TestPendingRecords: pending objects are stored in several records and read again; an update replaces all records of the
// previous update, and an update that was interrupted before its first record was committed has no effect.
func TestPendingRecords(t *testing.T) {
	ctx := t.Context()
	store := histories{watchcachetest.OpenOn(t, watchcachetest.OpenStore(t)), slog.New(slog.DiscardHandler)}
	read := func() history {
		t.Helper()
		all, err := store.readAll(ctx, "u")
		if err != nil {
			t.Fatal(err)
		}
		return all["u"]
	}
	for _, n := range []int{1, objectsPerRecord, 2*objectsPerRecord + 1, 3, 0} {
		next := pending{generation: int64(4 + n), objects: map[watchcache.Key]pendingObject{}}
		for i := range n {
			name := fmt.Sprint("w", i)
			next.objects[watchcache.Key{Namespace: "default", Name: name}] = pendingObject{Namespace: "default", Name: name, UID: name,
				Entries: []pendingEntry{{Manager: "m", Operation: apply.Apply, APIVersion: "example.com/v1", Time: noon, Generation: 2}}}
		}
		_, additional := next.writes("u", 12345) // the writes of an update that crashes before it commits its first record
		for _, write := range additional {
			if _, _, err := store.cache.Commit(ctx, write); err != nil {
				t.Fatal(err)
			}
		}
		before := read()
		if err := store.update(ctx, "u", next, before); err != nil {
			t.Fatal(err)
		}
		got := read().pending
		if want := (n + objectsPerRecord - 1) / objectsPerRecord; len(got.records) != want || len(got.objects) != n || n > 0 && got.generation != next.generation {
			t.Errorf("pending: got %d objects in %d records of generation %d, want %d in %d of generation %d", len(got.objects), len(got.records), got.generation, n, want, next.generation)
		}
		for key, object := range next.objects {
			if !reflect.DeepEqual(got.objects[key], object) {
				t.Errorf("pending object = %+v, want %+v", got.objects[key], object)
			}
		}
		if err := store.update(ctx, "u", next, before); n > 0 && !isConflict(err) {
			t.Errorf("update() of a changed history = %v, want a conflict", err)
		}
	}
}
