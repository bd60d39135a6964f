package encoding

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/document"
)

// FuzzTables converts arbitrary documents to Table rows with the columns of every kind: this must not panic, and must yield
// valid JSON with one cell per column.
func FuzzTables(f *testing.F) {
	for line := range strings.Lines(readFile(f, "written.txt")) {
		if object, ok := strings.CutPrefix(line, "< "); ok {
			f.Add(object)
		}
	}
	for _, odd := range []string{"", "null", "[]", "{", `{"metadata":[]}`, `{"metadata":{"labels":7,"creationTimestamp":{}},"spec":[],"status":"x"}`,
		`{"spec":{"containers":{"a":1},"metrics":[1,null,{"type":"Pods"}]},"status":{"conditions":[1,[],{"type":{}}],"initContainerStatuses":[null]}}`} {
		f.Add(odd)
	}
	custom, err := CustomColumns([]CustomColumn{{Column: Column{Name: "C", Type: "string"}, JSONPath: ".spec"}, {Column: Column{Name: "D", Type: "number"}, JSONPath: ".a[0]"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, object string) {
		v, err := document.ParseJSON(object)
		if err != nil {
			return // only valid JSON can reach this code
		}
		compact := rawJSON(v.JSON())
		for _, columns := range builtinColumns() {
			checkTable(t, columns, compact)
		}
		checkTable(t, custom, compact)
	})
}

func checkTable(t *testing.T, columns *Columns, object rawJSON) {
	t.Helper()
	text, err := AppendList(nil, View{Format: Format{Shape: Table}, Columns: columns, Now: oracleNow}, List{}, objects(object), nil)
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		Rows []struct {
			Cells []any
		}
	}
	if err := json.Unmarshal(text, &table); err != nil {
		t.Fatalf("Table = %s, want JSON: %v", text, err)
	}
	if len(table.Rows) != 1 || len(table.Rows[0].Cells) != len(columns.cells) {
		t.Fatalf("Table = %s, want one row with %d cells", text, len(columns.cells))
	}
}

// FuzzMembers compares metadataOf and withoutType, which search the text, with the same operations on a parsed document.
func FuzzMembers(f *testing.F) {
	f.Add(web)
	f.Add(config)
	f.Add(`{"a":"\\\\\"","kind":1e5,"metadata":{"x":[{"]":"}"}]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		_ = metadataOf([]byte(text))
		_ = withoutType([]byte(text))
		v, err := document.ParseJSON(text)
		if err != nil || v.Kind() != document.Map {
			return
		}
		compact := v.AppendJSON(nil)
		if metadata := v.Get("metadata"); metadata.Kind() == document.Map {
			if got := metadataOf(compact); string(got) != metadata.JSON() {
				t.Errorf("metadataOf(%s) = %s, want %s", compact, got, metadata.JSON())
			}
		}
		want := v.Without("apiVersion").Without("kind").AppendJSON(nil)
		if got := withoutType(bytes.Clone(compact)); !bytes.Equal(got, want) {
			t.Errorf("withoutType(%s) = %s, want %s", compact, got, want)
		}
	})
}

// FuzzNegotiate negotiates arbitrary Accept headers: the result is an error or a format with an encoding, and the cache returns the same
// format.
func FuzzNegotiate(f *testing.F) {
	for _, accept := range []string{"", "*/*", "application/json;as=Table;v=v1;g=meta.k8s.io, application/json;q=0.5", "application/cbor;stream=watch",
		"application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io;q=0.1", `application/json;drop="metadata.managedFields";drop=x`, "a/b;c=\"\\", ",;=,/;q=x"} {
		f.Add(accept, byte(Objects))
		f.Add(accept, byte(Watch))
	}
	f.Fuzz(func(t *testing.T, accept string, endpoint byte) {
		format, err := Negotiate(accept, Endpoint(endpoint))
		if err == nil && format.Encoding == nil {
			t.Errorf("Negotiate(%q, %d) has no encoding", accept, endpoint)
		}
		if again, err2 := Negotiate(accept, Endpoint(endpoint)); again != format || (err2 == nil) != (err == nil) {
			t.Errorf("Negotiate(%q, %d) = %v, %v, then %v, %v", accept, endpoint, format, err, again, err2)
		}
	})
}
