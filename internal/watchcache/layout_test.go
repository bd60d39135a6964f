package watchcache

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cadastre/cadastre/document"
)

var testFields = []Field{
	{Name: "spec.nodeName", Path: []string{"spec", "nodeName"}},
	{Name: "spec.replicas", Path: []string{"spec", "replicas"}, Absent: "1"},
	{Name: "status.phase", Path: []string{"status", "phase"}},
	{Name: "type", Path: []string{"type"}},
	{Name: "generation", Path: []string{"metadata", "generation"}, Absent: "0"},
	{Name: "spec.a.b.c", Path: []string{"spec", "a", "b", "c"}},
	{Name: "spec.host", Path: []string{"spec", "nodeName"}, Absent: "none"},
	{Name: "spec.a", Path: []string{"spec", "a"}},
	{Name: "source", Path: []string{"status", "phase"}, Fallback: []string{"spec", "nodeName"}},
	{Name: "other", Path: []string{"type"}, Fallback: []string{"generation"}, Absent: "default"},
}

func testKind(fields []Field) *resourceCache {
	forms := &forms{limit: 1 << 20, memory: memoryInUse}
	return newResourceCache("core/pods", fields, forms, new(atomic.Int64), 0)
}

// plainJSON is the reference implementation of AppendJSON: it parses text and sets resourceVersion to revision in the
// document.
func plainJSON(text, revision string) document.Value {
	v, err := document.ParseJSON(text)
	if err != nil {
		panic(err)
	}
	return v.With("metadata", v.Get("metadata").With("resourceVersion", document.NewString(revision)))
}

func TestObject(t *testing.T) {
	for _, text := range []string{
		`{"metadata":{"name":"web"}}`,
		`{"metadata":{"managedFields":[],"name":"web"}}`,
		`{"metadata":{"managedFields":null,"name":"web","namespace":"default"}}`,
		`{"metadata":{"managedFields":[{"a":"]}\""}],"name":"web","uid":"x"}}`,
		`{"metadata":{"annotations":{"a":"\\"},"name":"web","resourceVersion":"77","uid":"x"}}`,
		`{"metadata":{"name":"web","resourceVersion":"77"}}`,
		`{"metadata":{"labels":{},"name":"web"}}`,
		`{"metadata":{"labels":null,"name":"web"}}`,
		`{"metadata":{"labels":{"a":"1","b":"","c\u0026":"é\n"},"name":"web","zzz":[{}]}}`,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"},"spec":{"nodeName":"n1","replicas":12},"status":{"phase":"Run\"ning"},"type":"x"}`,
		`{"metadata":{"generation":5,"name":"web"},"spec":{"a":{"b":{"c":true}},"nodeName":null,"replicas":[1]}}`,
		`{"metadata":{"generation":5,"name":"web"},"spec":{"a":{"b":7},"nodeName":{}},"status":"x"}`,
		`{"metadata":{"name":"web"},"spec":{"nodeName":"n1"},"status":{"phase":""},"type":"x"}`,
		`{"generation":3,"metadata":{"name":"web"},"status":{"phase":"Running"},"type":""}`,
		`{"data":{"a":"[{\"","b":"\\\\"},"metadata":{"managedFields":[1,[2,{}]],"name":"web"},"type":-1.5e3}`,
	} {
		checkObject(t, text)
	}
}

// checkObject compares the results of an object's methods with its parsed document.
func checkObject(t *testing.T, text string) {
	t.Helper()
	o, err := newObject(testKind(testFields), "core/pods/default/web", []byte(text), 42)
	if err != nil {
		t.Errorf("newObject(%s): error = %v, want nil", text, err)
		return
	}
	whole := plainJSON(text, "42")
	if got := string(o.AppendJSON(nil)); got != whole.JSON() {
		t.Errorf("%s\nAppendJSON() = %s\nwant %s", text, got, whole.JSON())
	}
	dropped := whole.With("metadata", whole.Get("metadata").Without("managedFields")).JSON()
	if got := string(o.AppendJSONWithoutManagedFields(nil)); got != dropped {
		t.Errorf("%s\nAppendJSONWithoutManagedFields() = %s\nwant %s", text, got, dropped)
	}
	s := o.Spans()
	if got := s.Before + s.ManagedFields + s.Between + string(o.AppendRevision(nil)) + s.After; got != whole.JSON() {
		t.Errorf("%s: joined spans = %s, want %s", text, got, whole.JSON())
	}
	if size := len(o.AppendJSON(nil)); size > o.JSONSize() {
		t.Errorf("%s: AppendJSON() appended %d bytes, want at most JSONSize() = %d", text, size, o.JSONSize())
	}
	var labels []Label
	for name, value := range whole.Lookup("metadata", "labels").Fields() {
		labels = append(labels, Label{name, value.Text()})
	}
	if !slices.Equal(o.Labels(), labels) {
		t.Errorf("%s: Labels() = %v, want %v", text, o.Labels(), labels)
	}
	for _, f := range testFields {
		want := plainField(whole, f.Path, f.Absent)
		if f.Fallback != nil {
			if want = plainField(whole, f.Path, ""); want == "" {
				want = plainField(whole, f.Fallback, f.Absent)
			}
		}
		if got, ok := o.Field(f.Name); got != want || !ok {
			t.Errorf("%s: Field(%s) = %q, want %q", text, f.Name, got, want)
		}
	}
	if o.Name() != "web" || o.Namespace() != "default" {
		t.Errorf("object is %s/%s, want default/web", o.Namespace(), o.Name())
	}
}

// plainField is the reference implementation of Object.Field: it returns the scalar at a path of the document as text, and the
// parameter absent if there is no scalar.
func plainField(doc document.Value, path []string, absent string) string {
	switch v := doc.Lookup(path...); {
	case v.Kind() == document.String:
		return v.Text()
	case !v.IsAbsent() && !v.IsNull() && v.IsScalar():
		return v.JSON()
	}
	return absent
}

func TestUnreadableValue(t *testing.T) {
	for text, want := range map[string]string{
		``:                             "expected a JSON object",
		`[]`:                           "expected a JSON object",
		`{}`:                           "metadata.name must be set",
		`{"metadata":{}}`:              "metadata.name must be set",
		`{"metadata":[]}`:              "metadata: expected a JSON object",
		`{"metadata":{"name":5}}`:      "metadata: name: expected a string",
		`{"metadata":{"name":"x"}}`:    `metadata.name: expected "web", received "x"`,
		`{"metadata":{"name":"web"}`:   "canonical",
		`{"metadata":{"name":"web"`:    "canonical",
		`{"metadata":{"name":"we`:      "name",
		`{"metadata":{"name":"web",}}`: "canonical",
		`{"metadata":{"name":"web" }}`: "canonical",
		`{ "metadata":{"name":"web"}}`: "canonical",
		`{"metadata":{"name":"web","labels":{"a":"b"}}}`:         "canonical",
		`{"metadata":{"labels":{"a":1},"name":"web"}}`:           "metadata: labels: a: expected a string",
		`{"metadata":{"labels":{"a":"1","a":"2"},"name":"web"}}`: "canonical",
		`{"metadata":{"name":"web","name":"web"}}`:               "canonical",
		`{"metadata":{"name":"web","namespace":"other"}}`:        `metadata.namespace: expected "default", received "other"`,
		`{"metadata":{"name":"web"},"spec":{"b":1,"a":2}}`:       "canonical",
		`{"metadata":{"name":"web"},"spec":{"nodeName":"`:        "expected",
	} {
		_, err := newObject(testKind(testFields), "core/pods/default/web", []byte(text), 42)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "core/pods/default/web") {
			t.Errorf("newObject(%s) = %v, want an error with %q", text, err, want)
		}
	}
}

// TestRandomObjects compares random objects with their parsed documents; see checkObject.
func TestRandomObjects(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		metadata := randomValue(random, 2)
		if metadata.Kind() != document.Map {
			metadata = document.NewMap()
		}
		metadata = metadata.With("name", document.NewString("web")).Without("labels")
		if random.IntN(2) == 0 {
			metadata = metadata.With("managedFields", randomValue(random, 3))
		}
		if random.IntN(2) == 0 {
			metadata = metadata.With("labels", document.NewMap(document.Field{Name: randomText(random), Value: document.NewString(randomText(random))}))
		}
		v := document.NewMap().With("metadata", metadata)
		for _, name := range []string{"apiVersion", "data", "spec", "status", "type", "zone"} {
			if random.IntN(2) == 0 {
				v = v.With(name, randomValue(random, 3))
			}
		}
		checkObject(t, v.JSON())
	}
}

func randomValue(random *rand.Rand, depth int) document.Value {
	switch random.IntN(4 + min(depth, 1)*4) {
	case 0:
		return document.NewNull()
	case 1:
		return document.NewBool(random.IntN(2) == 0)
	case 2:
		return document.NewInt(random.Int64N(1000) - 500)
	case 3:
		return document.NewString(randomText(random))
	case 4, 5:
		var items []document.Value
		for range random.IntN(4) {
			items = append(items, randomValue(random, depth-1))
		}
		return document.NewList(items...)
	}
	v := document.NewMap()
	for range random.IntN(4) {
		names := []string{"nodeName", "replicas", "phase", "a", "b", "c", "generation", "resourceVersion", "uid", randomText(random)}
		v = v.With(names[random.IntN(len(names))], randomValue(random, depth-1))
	}
	return v
}

func randomText(random *rand.Rand) string {
	var b strings.Builder
	for range random.IntN(20) {
		b.WriteRune([]rune("abcdefgh\"\\{}[]:,<&é\n世")[random.IntN(20)])
	}
	return b.String()
}

func FuzzObject(f *testing.F) {
	f.Add(`{"metadata":{"labels":{"a":"b"},"managedFields":[],"name":"web","uid":"x"},"spec":{"nodeName":"n"}}`)
	f.Add(`{"metadata":{"name":"web","resourceVersion":"1"},"type":"x"}`)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := document.ParseJSON(text)
		_, objectErr := newObject(testKind(testFields), "core/pods/default/web", []byte(text), 42)
		if canonical := err == nil && v.JSON() == text; !canonical {
			return // for an unreadable value it suffices that newObject does not panic
		}
		readable := v.Lookup("metadata", "name").Text() == "web"
		for _, label := range v.Lookup("metadata", "labels").Fields() {
			readable = readable && label.Kind() == document.String
		}
		if namespace := v.Lookup("metadata", "namespace"); !namespace.IsAbsent() {
			readable = readable && namespace.Kind() == document.String && (namespace.Text() == "" || namespace.Text() == "default")
		}
		if labels := v.Lookup("metadata", "labels"); !labels.IsAbsent() && !labels.IsNull() && labels.Kind() != document.Map {
			readable = false
		}
		if readable != (objectErr == nil) {
			t.Errorf("newObject(%s) = %v, want success: %t", text, objectErr, readable)
		}
		if readable {
			checkObject(t, text)
		}
	})
}

func BenchmarkNewObject(b *testing.B) {
	for _, fields := range [][]Field{nil, testFields} {
		b.Run(fmt.Sprint(len(fields)), func(b *testing.B) {
			text := []byte(exampleObject(3000))
			rc := testKind(fields)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := newObject(rc, "core/pods/default/web", text, 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// exampleObject returns the JSON of a Pod. The JSON has about size bytes, of which nearly half are managedFields.
func exampleObject(size int) string {
	fields := strings.Repeat(`"f:containers":{"k:{\"name\":\"web\"}":{".":{},"f:image":{}}},`, size*45/100/62)
	spec := strings.Repeat(`{"image":"registry.example/web:1.2","name":"web","ports":[{"containerPort":80}]},`, size*45/100/82)
	return `{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"app":"web","tier":"front"},"managedFields":[{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{` +
		fields + `"f:x":{}},"manager":"ci","operation":"Apply"}],"name":"web","namespace":"default","uid":"b7b1"},"spec":{"containers":[` +
		spec + `{"name":"last"}],"nodeName":"n1"},"status":{"phase":"Running"}}`
}

// nameIn returns object, a result of exampleObject, with the given name.
func nameIn(object, name string) string {
	return strings.Replace(object, `"name":"web","namespace"`, `"name":"`+name+`","namespace"`, 1)
}
