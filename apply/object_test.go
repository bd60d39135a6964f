package apply

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

// TestUntrackedFields: "Apply strips certain fields (like name and namespace) from
// managers." (KEP-555)
func TestUntrackedFields(t *testing.T) {
	const doc = `{apiVersion: v1, kind: Thing, metadata: {name: web, namespace: ns, uid: u, resourceVersion: "1", generation: 1, ` +
		`creationTimestamp: "2026-01-01T00:00:00Z", selfLink: s, clusterName: c, labels: {a: b}}, number: 1}`
	t.Run("apply", func(t *testing.T) {
		s := newScript(t)
		s.apply("m", doc)
		s.wantOwners("m .metadata.labels.a .number")
		s.want(doc)
	})
	t.Run("update", func(t *testing.T) {
		s := newScript(t)
		s.update("m", doc)
		s.wantOwners("m/Update .metadata.labels .metadata.labels.a .number")
	})
	t.Run("before the first apply", func(t *testing.T) {
		s := newScript(t)
		s.live.Document = parse(doc)
		s.apply("m", `text: x`)
		s.wantOwners("m .text", "before-first-apply/Update .metadata.labels .metadata.labels.a .number")
	})
	t.Run("no conflict", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", doc)
		s.apply("m2", `{metadata: {resourceVersion: "2", generation: 2, uid: z}}`)
		s.wantOwners("m1 .metadata.labels.a .number")
	})
	t.Run("empty metadata", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `{metadata: {}, number: 1}`)
		s.update("m2", `{metadata: {name: x}, number: 1, text: x}`)
		s.wantOwners("m1 .number", "m2/Update .text")
	})
}

// objectJSON is a complete object with managedFields in canonical JSON.
const objectJSON = `{"apiVersion":"v1","kind":"Thing","metadata":{"labels":{"a":"b"},"managedFields":[` +
	`{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:number":{}},"manager":"ci","operation":"Apply","time":"2026-01-02T03:04:05Z"},` +
	`{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:status":{"f:a":{}}},"manager":"kubectl","operation":"Update","subresource":"status"}` +
	`],"name":"x"},"number":1}`

// TestManagedFieldsRoundTrip: "ManagedFields API can be round tripped through the
// structured-merge-diff format." (KEP-555)
func TestManagedFieldsRoundTrip(t *testing.T) {
	for _, text := range []string{
		objectJSON,
		`{"metadata":{"managedFields":[{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{},"manager":"m","operation":"Apply"}]}}`,
		`{"metadata":{"managedFields":[{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:a":{}},"manager":"\"m\\","operation":"Update"}],"zone":1},"spec":{}}`,
		`{"a":1,"metadata":{"annotations":{},"managedFields":[{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{},"manager":"","operation":"Apply"}]},"z":null}`,
		`{"metadata":{"name":"no entries"}}`,
		`{}`,
	} {
		object, err := ReadObject([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := object.JSON(); got != text {
			t.Errorf("JSON() =\n%s\nwant\n%s", got, text)
		}
		if !object.Document.Lookup("metadata", "managedFields").IsAbsent() {
			t.Error("Document contains metadata.managedFields, want it removed")
		}
	}
}

// TestManagedFieldsEncoding: "There are no changes to the managedFields API." (KEP-555) The engine encodes
// managedFields as the same JSON as Kubernetes.
func TestManagedFieldsEncoding(t *testing.T) {
	s := newScript(t)
	s.apply("ci", `{apiVersion: v1, kind: Thing, metadata: {name: x}, number: 1, items: [{name: a, value: 1}]}`)
	s.subresource = "status"
	s.update("controller", `{apiVersion: v1, kind: Thing, metadata: {name: x}, number: 1, items: [{name: a, value: 1}], status: {a: 1}}`)
	const want = `{"apiVersion":"v1","items":[{"name":"a","value":1}],"kind":"Thing","metadata":{"managedFields":[` +
		`{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:items":{"k:{\"name\":\"a\"}":{".":{},"f:name":{},"f:value":{}}},"f:number":{}},"manager":"ci","operation":"Apply","time":"2026-01-01T00:01:00Z"},` +
		`{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:status":{".":{},"f:a":{}}},"manager":"controller","operation":"Update","subresource":"status","time":"2026-01-01T00:02:00Z"}` +
		`],"name":"x"},"number":1,"status":{"a":1}}`
	if got := s.live.JSON(); got != want {
		t.Errorf("encoded managedFields =\n%s\nwant\n%s", got, want)
	}
}

// TestReadObjectAcceptsUpstreamForms: ReadObject accepts every encoding of managedFields that Kubernetes accepts.
func TestReadObjectAcceptsUpstreamForms(t *testing.T) {
	for _, c := range []struct {
		name, managedFields string
		entries             int
	}{
		{"null", `null`, 0},
		{"none", `[]`, 0},
		{"without fields", `[{"apiVersion":"v1","fieldsType":"FieldsV1","manager":"m","operation":"Apply"}]`, 1},
		{"null fields", `[{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":null,"manager":"m","operation":"Apply","time":null}]`, 1},
		{"without a name", `[{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{},"operation":"Update"}]`, 1},
		{"unknown fields", `[{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{},"operation":"Update","new":1}]`, 1},
		{"blanks", `[{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{ "f:number" : { } },"operation":"Update"}]`, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			object, err := ReadObject([]byte(`{"metadata":{"managedFields":` + c.managedFields + `}}`))
			if err != nil || len(object.Entries) != c.entries {
				t.Fatalf("ReadObject() = %v, %v, want %d entries", object.Entries, err, c.entries)
			}
			for _, e := range object.Entries {
				if _, err := e.Fields(); err != nil {
					t.Error(err)
				}
			}
			if _, err := document.ParseJSON([]byte(object.JSON())); err != nil {
				t.Errorf("JSON() is not valid JSON: %v", err)
			}
		})
	}
}

// TestInvalidEntries: invalid entries are rejected with their index and the reason.
func TestInvalidEntries(t *testing.T) {
	good := `{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:number":{}},"manager":"m","operation":"Apply"}`
	for _, c := range []struct{ name, entry, want string }{
		{"not a map", `1`, "expected a map, received number 1"},
		{"no operation", `{"apiVersion":"v1","fieldsType":"FieldsV1","manager":"m"}`, `expected operation Apply or Update, received ""`},
		{"another operation", `{"apiVersion":"v1","fieldsType":"FieldsV1","manager":"m","operation":"apply"}`, `received "apply"`},
		{"no version", `{"fieldsType":"FieldsV1","manager":"m","operation":"Apply"}`, "expected an apiVersion"},
		{"no type", `{"apiVersion":"v1","manager":"m","operation":"Apply"}`, `expected fieldsType FieldsV1, received ""`},
		{"another type", `{"apiVersion":"v1","fieldsType":"FieldsV2","manager":"m","operation":"Apply"}`, `received "FieldsV2"`},
		{"bad time", `{"apiVersion":"v1","fieldsType":"FieldsV1","manager":"m","operation":"Apply","time":"yesterday"}`, `managedFields[1]: time: expected a time such as`},
		{"time that is not a string", `{"apiVersion":"v1","fieldsType":"FieldsV1","manager":"m","operation":"Apply","time":5}`, `expected a time such as`},
		{"manager that is not a string", `{"apiVersion":"v1","fieldsType":"FieldsV1","manager":5,"operation":"Apply"}`, `manager: expected a string, received number 5`},
		{"version that is not a string", `{"apiVersion":1,"fieldsType":"FieldsV1","manager":"m","operation":"Apply"}`, `apiVersion: expected a string, received number 1`},
		{"subresource that is not a string", `{"apiVersion":"v1","fieldsType":"FieldsV1","manager":"m","operation":"Apply","subresource":{}}`, `subresource: expected a string, received map {}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadObject([]byte(`{"metadata":{"managedFields":[` + good + `,` + c.entry + `]}}`))
			wantEntryError(t, err, 1, c.want)
		})
	}
	t.Run("not a list", func(t *testing.T) {
		_, err := ReadObject([]byte(`{"metadata":{"managedFields":{}}}`))
		wantEntryError(t, err, -1, ".metadata.managedFields: expected a list of entries, received map {}")
	})
	t.Run("bad field set", func(t *testing.T) {
		s := newScript(t)
		for _, fields := range []string{`"x"`, `[]`, `{"f:a":1}`, `{"a":{}}`, `{"k:x":{}}`} {
			object, err := ReadObject([]byte(`{"metadata":{"managedFields":[` + good + `,` + strings.Replace(good, `{"f:number":{}}`, fields, 1) + `]}}`))
			if err != nil {
				t.Errorf("%s: ReadObject() error = %v, want none: field sets are decoded on demand", fields, err)
				continue
			}
			_, err = s.fast.Apply(object, parse(`number: 1`), s.request("m"))
			wantEntryError(t, err, 1, "expected a field set")
			_, err = s.fast.Update(object, parse(`number: 1`), s.request("m"))
			wantEntryError(t, err, 1, "expected a field set")
			_, err = s.fast.Extract(object, s.request("m"))
			wantEntryError(t, err, 1, "expected a field set")
		}
	})
	t.Run("not JSON", func(t *testing.T) {
		_, err := ReadObject([]byte(`{"metadata":`))
		var syntax *document.SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("ReadObject() error = %v, want a SyntaxError", err)
		}
	})
}

// wantEntryError fails the test unless err is an EntryError with the given index and a text that contains part.
func wantEntryError(t *testing.T, err error, index int, part string) {
	t.Helper()
	var entry *EntryError
	if !errors.As(err, &entry) {
		t.Errorf("error = %v, want an EntryError", err)
		return
	}
	if entry.Index != index || !strings.Contains(err.Error(), part) {
		t.Errorf("Index = %d, want %d; error = %v, want it to contain %s", entry.Index, index, err, part)
	}
}

// TestLargeObjects: every function that reads objects accepts objects larger than the default limit of documents.
func TestLargeObjects(t *testing.T) {
	text := `{"data":"` + strings.Repeat("x", document.DefaultMaxBytes) + `","kind":"ConfigMap"}`
	var reader reusingReader
	for name, read := range map[string]func() (Object, error){
		"ReadObject":        func() (Object, error) { return ReadObject(text) },
		"readBeside":        func() (Object, error) { return readSharing(text, Object{}) },
		"Reader.Read":       func() (Object, error) { return reader.Read(text) },
		"Reader.ReadBeside": func() (Object, error) { return reader.ReadSharing(text, Object{}) },
	} {
		if o, err := read(); err != nil || o.JSON() != text {
			t.Errorf("%s: len(JSON()) = %d, want %d; error = %v", name, len(o.JSON()), len(text), err)
		}
	}
}

// TestDuplicateManagerEntries: if two entries have the same identity, the last one is used, as upstream does.
func TestDuplicateManagerEntries(t *testing.T) {
	s := newScript(t)
	s.live = Object{Document: parse(`{number: 1, text: x}`), Entries: []Entry{
		{Manager: "m", Operation: Apply, APIVersion: "v1", FieldsV1: `{"f:number":{}}`},
		{Manager: "m", Operation: Apply, APIVersion: "v1", FieldsV1: `{"f:text":{}}`}}}
	s.apply("other", `flag: true`)
	s.wantOwners("m .text", "other .flag")
}

// TestNoOp: applying the live values returns the live document and the live slice of entries, without a new time. The
// helper script checks this for every no-op.
func TestNoOp(t *testing.T) {
	s := newScript(t)
	const config = `{apiVersion: v1, kind: Thing, metadata: {name: x}, number: 1, struct: {}, list: [], set: [b, a], items: [{name: b}, {name: a, value: 1}], map: {x: null}, free: {a: [{}]}}`
	s.apply("m1", config)
	s.noOp("m1", config)
	s.apply("m2", `{text: x, set: [c]}`)
	s.update("m3", s.live.Document.With("flag", document.NewBool(true)).String())
	s.noOp("m1", config)
	s.noOp("m2", `{text: x, set: [c]}`)
	if result := s.update("m3", s.live.Document.String()); !result.NoOp {
		t.Error("update with the live document: NoOp = false, want true")
	}
	t.Run("another spelling of a number", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `{number: 100, items: [{name: a, value: 1}]}`)
		s.noOp("m1", `{items: [{value: 1.0, name: a}], number: 1e2}`)
	})
	t.Run("another order is a change", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `set: [a, b]`)
		if result := s.apply("m1", `set: [b, a]`); result.NoOp {
			t.Error("apply with another order of items: NoOp = true, want false")
		}
		s.want(`set: [b, a]`)
	})
	t.Run("a new co-owner is a change", func(t *testing.T) {
		s := newScript(t)
		s.apply("m1", `number: 1`)
		result := s.apply("m2", `number: 1`)
		if result.NoOp || !result.Changes().IsEmpty() {
			t.Errorf("apply by a new co-owner: NoOp = %v, Changes() = %v; want false and no changes", result.NoOp, result.Changes())
		}
	})
	t.Run("another version is a change", func(t *testing.T) {
		s := newScript(t, Options{Versions: newTestVersions("v3")})
		s.apply("m1", `number: 1`)
		s.convertTo("v3")
		if result := s.apply("m1", `number: 1`); result.NoOp || s.live.Entries[0].APIVersion != "v3" {
			t.Errorf("apply at v3: NoOp = %v, Entries = %v; want false and an entry at v3", result.NoOp, s.live.Entries)
		}
	})
}

// TestChanges: Result.Changes returns exactly the paths that changed.
func TestChanges(t *testing.T) {
	s := newScript(t)
	s.apply("m1", `{number: 1, text: x, items: [{name: a, value: 1}], map: {a: 1}}`)
	result := s.apply("m1", `{number: 2, flag: true, items: [{name: a, value: 1}, {name: b}], map: {a: 1}}`)
	c := result.Changes()
	if !c.Added.Equal(pathSet(`.flag .items[name="b"]{,.name}`)) || !c.Modified.Equal(pathSet(".number")) || !c.Removed.Equal(pathSet(".text")) {
		t.Errorf("unexpected Changes():\nAdded\n%vModified\n%vRemoved\n%v", c.Added, c.Modified, c.Removed)
	}
	result = s.update("m2", `{number: 2, flag: true, items: [{name: b}], map: {a: 1}, struct: {a: 1}}`)
	c = result.Changes()
	if !c.Added.Equal(pathSet(".struct .struct.a")) || !c.Modified.IsEmpty() || !c.Removed.Equal(pathSet(`.items[name="a"]{,.name,.value}`)) {
		t.Errorf("unexpected Changes():\nAdded\n%vModified\n%vRemoved\n%v", c.Added, c.Modified, c.Removed)
	}
}

// TestNonCanonicalFieldsV1: the engine treats a field set in a non-canonical encoding like the same field set in the
// canonical encoding, even after the engine has cached it.
func TestNonCanonicalFieldsV1(t *testing.T) {
	const items, ports = `items: [{name: a, value: 1}]`, `ports: [{port: 80, alias: a}]`
	for _, c := range []struct{ name, fields, live, config, conflict string }{
		{"blanks", `{ "f:number" : { } }`, `number: 1`, `number: 2`, ".number"},
		{"escaped", `{"f:\u006eumber":{}}`, `number: 1`, `number: 2`, ".number"},
		{"null", `{"f:number":null}`, `number: 1`, `number: 2`, ".number"},
		{"dot alone", `{"f:number":{".":{}}}`, `number: 1`, `number: 2`, ".number"},
		{"order", `{"f:text":{},"f:number":{}}`, `number: 1`, `number: 2`, ".number"},
		{"twice", `{"f:number":{},"f:number":{}}`, `number: 1`, `number: 2`, ".number"},
		{"blanks in a key", `{"f:items":{"k:{ \"name\" : \"a\" }":{"f:value":{}}}}`, items, `items: [{name: a, value: 2}]`, `.items[name="a"].value`},
		{"escaped key", `{"f:items":{"k:{\"name\":\"\\u0061\"}":{"f:value":{}}}}`, items, `items: [{name: a, value: 2}]`, `.items[name="a"].value`},
		{"order of keys", `{"f:ports":{"k:{\"protocol\":\"TCP\",\"port\":80}":{"f:alias":{}}}}`, ports, `ports: [{port: 80, alias: b}]`, `.ports[port=80,protocol="TCP"].alias`},
		{"number in a key", `{"f:ports":{"k:{\"port\":8e1,\"protocol\":\"TCP\"}":{"f:alias":{}}}}`, ports, `ports: [{port: 80, alias: b}]`, `.ports[port=80,protocol="TCP"].alias`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(t)
			s.live = Object{Document: parse(c.live), Entries: []Entry{{Manager: "other", Operation: Apply, APIVersion: "v1", FieldsV1: c.fields}}}
			for range 3 {
				s.conflict("me", c.config, c.conflict+" other")
				if _, err := s.fast.Apply(s.live, parse(`flag: true`), s.request("unrelated")); err != nil {
					t.Fatal(err)
				}
			}
			result, err := s.fast.Update(s.live, parse(c.config), s.request("me"))
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range result.Object.Entries {
				fields, _ := e.Fields()
				if owns := fields.Has(mustPath(c.conflict)); owns != (e.Manager == "me") {
					t.Errorf("%s owns\n%v\nwant %s to be owned only by me", e.Manager, fields, c.conflict)
				}
			}
		})
	}
}

// TestMaxDepthObject: the deepest object that can be read can be applied, and can be read again with its
// managedFields.
func TestMaxDepthObject(t *testing.T) {
	nested := func(levels int) string {
		return `{"apiVersion":"v1","kind":"Thing","metadata":{"name":"a"},"a":` + strings.Repeat(`{"a":`, levels) + "1" + strings.Repeat("}", levels) + "}"
	}
	deepest := document.DefaultMaxDepth - 1
	if _, err := ReadObject(nested(deepest + 1)); err == nil || len(err.Error()) > 10*len(nested(deepest)) {
		t.Errorf("ReadObject() of an object that is too deep: error = %.200v, want an error shorter than 10 times the object", err)
	}
	config, err := ReadObject(nested(deepest))
	if err != nil {
		t.Fatal(err)
	}
	engine := mustEngine(Options{Versions: OneVersion("v1", schema.Untyped)})
	r := Request{Manager: "m1", Version: "v1", Time: time.Unix(1, 0)}
	result, err := engine.Apply(Object{}, config.Document, r)
	if err != nil {
		t.Fatal(err)
	}
	read, err := ReadObject(result.Object.JSON())
	if err != nil {
		t.Fatal(err.Error()[:200])
	}
	if again, err := engine.Apply(read, config.Document, r); err != nil || !again.NoOp {
		t.Errorf("second Apply(): NoOp = %v, error = %v; want a no-op", again.NoOp, err)
	}
}
