package encoding

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/builtin/kinds"
)

func tableView(group, kind string, include Include) View {
	return View{Format: Format{Shape: Table}, Columns: ColumnsOf(group, kind), Include: include, Now: oracleNow}
}

func TestTableOfList(t *testing.T) {
	list := List{Kind: "RoleList", APIVersion: "rbac.authorization.k8s.io/v1", ResourceVersion: 5, Continue: "next", Remaining: 2}
	role := rawJSON(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"creationTimestamp":"1999-12-31T23:00:00+01:00","name":"r"},"rules":[]}`)
	v := tableView("rbac.authorization.k8s.io", "Role", IncludeMetadata)
	got := mustAppend(t)(AppendList(nil, v, list, objects(role, role), nil))
	row := `{"cells":["r","1999-12-31T22:00:00Z"],"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"creationTimestamp":"1999-12-31T23:00:00+01:00","name":"r"}}}`
	want := `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"5","continue":"next","remainingItemCount":2},"columnDefinitions":` +
		`[{"name":"Name","type":"string","format":"name","description":"The name of the object.","priority":0},` +
		`{"name":"Created At","type":"date","format":"","description":"The creation time of the object.","priority":0}],"rows":[` + row + "," + row + "]}\n"
	if got != want {
		t.Errorf("AppendList() of a Table =\n%s\nwant\n%s", got, want)
	}
	var table metav1.Table
	if err := json.Unmarshal([]byte(got), &table); err != nil {
		t.Error(err)
	}
}

func TestTableInclude(t *testing.T) {
	for include, want := range map[string]string{
		"":         `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"c"}}`,
		"Metadata": `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"c"}}`,
		"Object":   config,
		"None":     "null",
	} {
		included, err := ParseInclude(include)
		if err != nil {
			t.Fatal(err)
		}
		var table struct {
			Rows []struct{ Object json.RawMessage }
		}
		decode(t, mustAppend(t)(AppendObject(nil, tableView("", "ConfigMap", included), rawJSON(config))), &table)
		if got := string(table.Rows[0].Object); got != want {
			t.Errorf("Table with includeObject %q = %s, want %s", include, got, want)
		}
	}
	_, err := ParseInclude("All")
	if s := StatusOf(err); s.Code != 400 || !strings.Contains(s.Message, `includeObject: Invalid value: "All"`) {
		t.Errorf("ParseInclude(All) = %+v, want code 400 and the invalid value", s)
	}
}

// TestTableEvents checks that only the first event of a watch contains column definitions, and that the bookmark that ends
// the initial events includes its metadata even with includeObject=None.
func TestTableEvents(t *testing.T) {
	events, err := NewWatchEncoder(tableView("", "ConfigMap", IncludeNone))
	if err != nil {
		t.Fatal(err)
	}
	var tables []metav1.Table
	must := mustAppend(t)
	text := must(events.Append(nil, "ADDED", rawJSON(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","resourceVersion":"4"}}`)))
	text += must(events.Append(nil, "DELETED", rawJSON(config)))
	text += must(events.AppendBookmark(nil, Bookmark{Kind: "ConfigMap", APIVersion: "v1", ResourceVersion: 12, InitialEnd: true}))
	for line := range strings.Lines(text) {
		var event struct{ Object metav1.Table }
		decode(t, line, &event)
		tables = append(tables, event.Object)
	}
	if len(tables) != 3 || len(tables[0].ColumnDefinitions) != 3 || tables[1].ColumnDefinitions != nil || tables[2].ColumnDefinitions != nil {
		t.Fatalf("events = %s, want three Tables, only the first one with column definitions", text)
	}
	if tables[0].ResourceVersion != "4" || tables[2].ResourceVersion != "12" {
		t.Errorf("events = %s, want the first Table at resourceVersion 4, the third at 12", text)
	}
	if len(tables[1].Rows[0].Object.Raw) != 0 || !strings.Contains(string(tables[2].Rows[0].Object.Raw), metav1.InitialEventsAnnotationKey) {
		t.Errorf("events = %s, want metadata only in the bookmark that ends the initial events", text)
	}
}

// TestTableOrder checks that the rows of FlowSchemas are sorted by matching precedence.
func TestTableOrder(t *testing.T) {
	schemas := objects(
		`{"metadata":{"name":"c"},"spec":{"matchingPrecedence":200}}`,
		`{"metadata":{"name":"b"},"spec":{"matchingPrecedence":1000}}`,
		`{"metadata":{"name":"a"},"spec":{"matchingPrecedence":1000}}`)
	var table struct{ Rows []tableRow }
	decode(t, mustAppend(t)(AppendList(nil, tableView("flowcontrol.apiserver.k8s.io", "FlowSchema", IncludeNone), List{}, schemas, nil)), &table)
	names := ""
	for _, row := range table.Rows {
		names += row.Cells[0].(string)
	}
	if names != "cab" {
		t.Errorf("order of rows = %s, want cab", names)
	}
}

// documented is a Documented object whose document differs from its JSON, so that a test can detect which of the two was used.
type documented struct{ rawJSON }

func (documented) Document() document.Value {
	v, _ := document.ParseJSON(`{"metadata":{"name":"stored"}}`)
	return v
}

func TestTableOfDocumented(t *testing.T) {
	got := mustAppend(t)(AppendObject(nil, tableView("", "ConfigMap", IncludeMetadata), documented{web}))
	if !strings.Contains(got, `"cells":["stored",0,"\u003cunknown\u003e"]`) || !strings.Contains(got, `"metadata":{"resourceVersion":"7"}`) || !strings.Contains(got, `"name":"web"`) {
		t.Errorf("Table = %s, want cells of the document and metadata of the JSON", got)
	}
}

func TestParseColumnsErrors(t *testing.T) {
	for text, want := range map[string]string{
		"Name | string":                "types/test.type:3: expected NAME | TYPE | SOURCE | DESCRIPTION",
		"Name | string | | x":          "expected NAME | TYPE | SOURCE | DESCRIPTION",
		"N | string | go unknown | x":  `received "unknown"`,
		"N | string | guess a | x":     `expected the name of a source, received "guess"`,
		"N | string | text | x":        "source text: expected 1 paths",
		"N | string | count | x":       "source count: expected one or more paths",
		"N | string | text a b c | x":  "source text: expected 1 paths",
		"N | string | created a b | x": "source created: expected 0 paths",
		"sort rows by chance":          "expected the name of a row order",
		"completed status.phase":       "expected completed PATH VALUE",
		"pods":                         "expected NAME | TYPE | SOURCE | DESCRIPTION",
		"hidden":                       "expected the name of a source, received none",
	} {
		set, err := kinds.Read(fstest.MapFS{"types/test.type": {Data: []byte("type Test\n    columns:\n        " + text + "\n")}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := readColumns(set); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("readColumns() of the line %q: error = %v, want %s", text, err, want)
		}
	}
}

// TestCustomAsKubernetes compares the cells of additional printer columns with those of Kubernetes.
func TestCustomAsKubernetes(t *testing.T) {
	object, compared := "", 0
	for line := range strings.Lines(readTestdata(t, "custom.txt")) {
		line = strings.TrimSpace(line)
		if object == "" {
			object = line
			continue
		}
		parts := strings.SplitN(line, " ", 3)
		columns, err := CustomColumns([]CustomColumn{{Column: Column{Name: "C", Type: parts[0]}, JSONPath: parts[1]}})
		if err != nil {
			t.Fatal(err)
		}
		var table struct {
			Rows []struct{ Cells []json.RawMessage }
		}
		decode(t, mustAppend(t)(AppendObject(nil, View{Format: Format{Shape: Table}, Columns: columns, Now: oracleNow}, rawJSON(object))), &table)
		var got, want any
		decode(t, string(table.Rows[0].Cells[1]), &got)
		decode(t, parts[2], &want)
		if got != want {
			t.Errorf("cell of type %s at %s = %v, want %v", parts[0], parts[1], got, want)
		}
		compared++
	}
	if compared < 100 {
		t.Errorf("%d cells compared, want at least 100", compared)
	}
}

func TestCustomColumns(t *testing.T) {
	columns, err := CustomColumns(nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := columns.Definitions(); len(d) != 2 || d[1].Name != "Age" || d[1].Type != "date" {
		t.Errorf("Definitions() = %+v, want the columns Name and Age", d)
	}
	if _, err := CustomColumns([]CustomColumn{{Column: Column{Name: "C"}, JSONPath: ".a["}}); err == nil {
		t.Error("CustomColumns() with an invalid JSONPath: error = nil, want an error")
	}
}

// TestConcurrentTables encodes Tables in several goroutines, so that the race detector can find shared state.
func TestConcurrentTables(t *testing.T) {
	custom, err := CustomColumns([]CustomColumn{{Column: Column{Name: "C", Type: "string"}, JSONPath: ".spec['replicas']"}})
	if err != nil {
		t.Fatal(err)
	}
	views := []View{tableView("apps", "Deployment", IncludeObject), {Format: Format{Shape: Table}, Columns: custom, Now: oracleNow}}
	var want []string
	for _, v := range views {
		want = append(want, mustAppend(t)(AppendList(nil, v, List{}, objects(web, config, web), nil)))
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 50 {
				got, err := AppendList(nil, views[i%2], List{}, objects(web, config, web), nil)
				if err != nil || string(got) != want[i%2] {
					t.Errorf("AppendList() = %s, %v, want %s", got, err, want[i%2])
				}
			}
		})
	}
	all.Wait()
}
