package apply

import (
	"fmt"
	"testing"
	"time"
)

// Update records all writes other than apply: create, update, and the other patch types.

// TestUpdate: the manager becomes the owner of the fields that it changed; other managers lose the fields that were
// changed or removed.
func TestUpdate(t *testing.T) {
	for _, c := range []struct {
		name, applied, updated string
		owners                 []string
	}{
		{"create", ``, `{number: 1, struct: {a: 1}}`, []string{"u/Update .number .struct .struct.a"}},
		{"nothing", `number: 1`, `number: 1`, []string{"m .number"}},
		{"another spelling", `number: 1`, `number: 1.0`, []string{"m .number"}},
		{"add", `number: 1`, `{number: 1, text: x}`, []string{"m .number", "u/Update .text"}},
		{"change", `{number: 1, text: x}`, `{number: 2, text: x}`, []string{"m .text", "u/Update .number"}},
		{"remove", `{number: 1, text: x}`, `text: x`, []string{"m .text"}},
		{"remove all", `number: 1`, ``, nil},
		{"to null", `number: 1`, `number: null`, []string{"u/Update .number"}},
		{"remove a container", `{struct: {a: 1, inner: {b: 1}}, text: x}`, `text: x`, []string{"m .text"}},
		{"change an atomic list", `list: [a]`, `list: [a, b]`, []string{"u/Update .list"}},
		{"add to a set", `set: [a]`, `set: [a, b]`, []string{`m .set[="a"]`, `u/Update .set[="b"]`}},
		{"remove from a set", `set: [a, b]`, `set: [b]`, []string{`m .set[="b"]`}},
		{"reorder a set", `set: [a, b]`, `set: [b, a]`, []string{`m .set[="a"] .set[="b"]`}},
		{"change an item", `items: [{name: a, value: 1}]`, `items: [{name: a, value: 2}]`,
			[]string{`m .items[name="a"]{,.name}`, `u/Update .items[name="a"].value`}},
		{"replace an item", `items: [{name: a, value: 1}]`, `items: [{name: b, value: 1}]`,
			[]string{`u/Update .items[name="b"]{,.name,.value}`}},
		{"another shape", `free: {a: 1}`, `free: [1]`, []string{"u/Update .free"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(t)
			if c.applied != "" {
				s.apply("m", c.applied)
			}
			s.update("u", c.updated)
			s.want(c.updated)
			s.wantOwners(c.owners...)
		})
	}
}

// TestUpdateExtendsEntry: fields that the manager changes in later updates are added to its entry; the time of the
// entry is the time of the last change.
func TestUpdateExtendsEntry(t *testing.T) {
	s := newScript(t)
	s.update("u", `number: 1`)
	created := s.entry("u/Update").Time
	s.update("u", `{number: 1, text: x}`)
	s.wantOwners("u/Update .number .text")
	if e := s.entry("u/Update"); !e.Time.After(created) {
		t.Errorf("Time = %v, want the time of the second change, after %v", e.Time, created)
	}
	changed := s.entry("u/Update").Time
	result := s.update("u", `{number: 1, text: x}`)
	if !result.NoOp || !s.entry("u/Update").Time.Equal(changed) {
		t.Errorf("update without changes: NoOp = %v, object =\n%s\nwant a no-op", result.NoOp, formatObject(s.live))
	}
	s.update("u", `number: 1`)
	s.wantOwners("u/Update .number")
	if !s.entry("u/Update").Time.Equal(changed) {
		t.Errorf("Time = %v after removing a field, want it unchanged: %v", s.entry("u/Update").Time, changed)
	}
}

// TestUpdateWithoutManager: the default manager of updates is "unknown".
func TestUpdateWithoutManager(t *testing.T) {
	s := newScript(t)
	s.oracle = nil // structured-merge-diff has no default manager
	s.update("", `number: 1`)
	s.wantOwners("unknown/Update .number")
}

// TestUpdateKeepsDocumentVerbatim: Update stores the document unchanged even if it does not conform to the schema: the
// caller is responsible for validation.
func TestUpdateKeepsDocumentVerbatim(t *testing.T) {
	s := newScript(t)
	s.oracle = nil // structured-merge-diff rejects the document
	s.update("u", `{number: x, undeclared: {a: 1}, set: [a, a], items: [{value: 1}], struct: {}, map: null, list: []}`)
	s.want(`{number: x, undeclared: {a: 1}, set: [a, a], items: [{value: 1}], struct: {}, map: null, list: []}`)
	s.apply("m", `flag: true`)
	s.want(`{number: x, undeclared: {a: 1}, set: [a, a], items: [{value: 1}], struct: {}, map: null, list: [], flag: true}`)
}

// TestBeforeFirstApply: the first apply to an object without managedFields creates an entry for the fields that the
// object already has.
func TestBeforeFirstApply(t *testing.T) {
	const live = `{metadata: {name: x, uid: "1", labels: {a: b}}, number: 1, struct: {a: 1}, items: [{name: a, value: 1}]}`
	t.Run("unrelated", func(t *testing.T) {
		s := newScript(t)
		s.live.Document = parse(live)
		s.apply("m", `text: x`)
		s.wantOwners("m .text", `before-first-apply/Update .metadata.labels .metadata.labels.a .number .struct .struct.a .items .items[name="a"]{,.name,.value}`)
		if got := s.entry("before-first-apply/Update").Time; !got.Equal(s.now) {
			t.Errorf("Time = %v, want %v", got, s.now)
		}
	})
	t.Run("conflict", func(t *testing.T) {
		s := newScript(t)
		s.live.Document = parse(live)
		s.conflict("m", `number: 2`, ".number before-first-apply/Update")
	})
	t.Run("force", func(t *testing.T) {
		s := newScript(t)
		s.live.Document = parse(`{metadata: {name: x, uid: "1"}, number: 1}`)
		s.force("m", `number: 2`)
		s.wantOwners("m .number")
	})
	t.Run("same value", func(t *testing.T) {
		s := newScript(t)
		s.live.Document = parse(`number: 1`)
		s.apply("m", `number: 1`)
		s.wantOwners("m .number", "before-first-apply/Update .number")
	})
	t.Run("fields of Request.Empty", func(t *testing.T) {
		live := Object{Document: parse(`{apiVersion: v1, number: 1, text: x, struct: {a: 1}, atomicStruct: {}}`)}
		result, err := mustEngine(Options{}).Apply(live, parse(`flag: true`), Request{
			Manager: "m", Version: "v1", Empty: parse(`{text: "", struct: {}, atomicStruct: {}}`),
		})
		if err != nil {
			t.Fatal(err)
		}
		const want = `{"f:number":{},"f:struct":{"f:a":{}},"f:text":{}}`
		if got := result.Object.Entries[1]; got.Manager != BeforeFirstApply || got.FieldsV1 != want {
			t.Errorf("entry of %s = %s, want %s", got.Manager, got.FieldsV1, want)
		}
	})
	t.Run("updates do not start tracking", func(t *testing.T) {
		s := newScript(t)
		s.live.Document = parse(live)
		s.update("u", `{metadata: {uid: "1"}, number: 5}`)
		s.wantOwners()
		s.want(`{metadata: {uid: "1"}, number: 5}`)
	})
	t.Run("updates of an object without uid start tracking", func(t *testing.T) {
		s := newScript(t)
		s.live.Document = parse(`number: 1`)
		s.update("u", `{number: 1, text: x}`)
		s.wantOwners("u/Update .text")
	})
}

// TestUpdateEntriesAreCapped: an object has at most ten Update entries; the oldest are merged into ancient-changes.
func TestUpdateEntriesAreCapped(t *testing.T) {
	s := newScript(t)
	s.oracle = nil // structured-merge-diff does not limit the number of entries
	fields := ""
	for i := range 12 {
		fields += fmt.Sprintf("k%02d: 1, ", i)
		s.update(fmt.Sprintf("u%02d", i), "map: {"+fields+"}")
		if i == 9 && len(s.live.Entries) != 10 {
			t.Errorf("len(Entries) = %d, want 10", len(s.live.Entries))
		}
	}
	s.apply("m", `text: x`) // Apply entries do not count towards the limit
	if len(s.live.Entries) != 11 {
		t.Errorf("len(Entries) = %d, want 10 Update entries and one Apply entry", len(s.live.Entries))
	}
	ancient, _ := s.entry("ancient-changes/Update").Fields()
	if want := pathSet(".map .map.k00 .map.k01 .map.k02"); !ancient.Equal(want) {
		t.Errorf("ancient-changes owns\n%vwant\n%v", ancient, want)
	}
	third := s.now.Add(-10 * time.Minute)
	if got := s.entry("ancient-changes/Update").Time; !got.Equal(third) {
		t.Errorf("Time of ancient-changes = %v, want %v, the time of the last merged entry", got, third)
	}
	t.Run("another limit", func(t *testing.T) {
		s := newScript(t, Options{MaxUpdateEntries: 2})
		s.oracle = nil
		s.update("a", `map: {a: 1}`)
		s.update("b", `map: {a: 1, b: 1}`)
		s.update("c", `map: {a: 1, b: 1, c: 1}`)
		s.wantOwners("ancient-changes/Update .map .map.a .map.b", "c/Update .map.c")
	})
}

// TestUpdateCapKeepsOwnership: if ancient-changes is not the oldest entry, because other entries have the same time,
// its fields are not lost. Kubernetes drops the whole entry in this case.
func TestUpdateCapKeepsOwnership(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := newScript(t, Options{MaxUpdateEntries: 2})
	s.oracle = nil
	s.live = Object{Document: parse(`map: {a: 1, b: 1, c: 1}`), Entries: []Entry{
		{Manager: "aaa", Operation: Update, APIVersion: "v1", Time: at, FieldsV1: `{"f:map":{"f:a":{}}}`},
		{Manager: "ancient-changes", Operation: Update, APIVersion: "v1", Time: at, FieldsV1: `{"f:map":{"f:b":{}}}`},
		{Manager: "zzz", Operation: Update, APIVersion: "v1", Time: at, FieldsV1: `{"f:map":{"f:c":{}}}`},
	}}
	s.update("new", `map: {a: 1, b: 1, c: 1, d: 1}`)
	all := pathSet("")
	for _, e := range s.live.Entries {
		fields, _ := e.Fields()
		all = all.Union(fields)
	}
	if want := pathSet(".map.a .map.b .map.c .map.d"); !all.Equal(want) {
		t.Errorf("union of field sets =\n%vwant\n%v\n%s", all, want, formatObject(s.live))
	}
	if len(s.live.Entries) > 2 {
		t.Errorf("len(Entries) = %d, want at most 2:\n%s", len(s.live.Entries), formatObject(s.live))
	}
}

// TestEntryTimes: an entry has the time of its manager's last change. A request that changes no value does not change
// the time of the entry.
func TestEntryTimes(t *testing.T) {
	s := newScript(t)
	s.apply("m1", `number: 1`)
	first := s.now
	s.apply("m2", `number: 1`) // m2 becomes a co-owner and changes no value
	if e := s.entry("m2"); !e.Time.IsZero() {
		t.Errorf("Time of m2 = %v, want zero", e.Time)
	}
	s.apply("m2", `{number: 1, text: x}`)
	if e := s.entry("m2"); !e.Time.Equal(s.now) {
		t.Errorf("Time of m2 = %v, want %v", e.Time, s.now)
	}
	if e := s.entry("m1"); !e.Time.Equal(first) {
		t.Errorf("Time of m1 = %v, want %v", e.Time, first)
	}
	second := s.now
	s.apply("m2", `text: x`) // m2 releases a shared field; the document does not change
	if e := s.entry("m2"); !e.Time.Equal(second) {
		t.Errorf("Time of m2 = %v, want %v", e.Time, second)
	}
	s.force("m3", `text: z`)
	if e := s.entry("m1"); !e.Time.Equal(first) {
		t.Errorf("Time of m1 after it lost fields = %v, want %v", e.Time, first)
	}
	t.Run("truncated to seconds", func(t *testing.T) {
		s := newScript(t)
		s.now = time.Date(2026, 1, 1, 0, 0, 0, 123456789, time.FixedZone("", 3600))
		s.apply("m1", `number: 1`)
		s.update("m2", `{number: 1, text: x}`)
		for _, e := range s.live.Entries {
			if e.Time.Nanosecond() != 0 || e.Time.Location() != time.UTC {
				t.Errorf("Time of %s = %v, want UTC without fraction", e.Manager, e.Time)
			}
		}
	})
}
