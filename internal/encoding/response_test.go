package encoding

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

const (
	web    = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"managedFields":[{"manager":"m"}],"name":"web","resourceVersion":"7"},"spec":{"replicas":2}}`
	config = `{"apiVersion":"v1","data":{"kind":"\"},{","metadata":"}"},"kind":"ConfigMap","metadata":{"name":"c"}}`
)

func objects(texts ...rawJSON) iter.Seq[Object] { return Seq(texts) }

func mustAppend(t *testing.T) func(text []byte, err error) string {
	t.Helper()
	return func(text []byte, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
}

func TestAppendObject(t *testing.T) {
	must := mustAppend(t)
	for _, test := range []struct {
		name   string
		format Format
		want   string
	}{
		{"whole", Format{}, web + "\n"},
		{"partial", Format{Shape: Partial}, `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"managedFields":[{"manager":"m"}],"name":"web","resourceVersion":"7"}}` + "\n"},
		{"partial v1beta1", Format{Shape: Partial, Meta: MetaV1beta1}, `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1beta1","metadata":{"managedFields":[{"manager":"m"}],"name":"web","resourceVersion":"7"}}` + "\n"},
		{"yaml", Format{Encoding: YAML, Shape: Partial, Pretty: true}, "apiVersion: meta.k8s.io/v1\nkind: PartialObjectMetadata\nmetadata:\n  managedFields:\n  - manager: m\n  name: web\n  resourceVersion: \"7\"\n"},
	} {
		if got := must(AppendObject([]byte("before "), View{Format: test.format}, rawJSON(web))); got != "before "+test.want {
			t.Errorf("%s: AppendObject() =\n%s\nwant\n%s", test.name, got, "before "+test.want)
		}
	}
	if _, err := AppendObject(nil, View{Format: Format{Shape: PartialList}}, rawJSON(web)); StatusOf(err).Code != 406 {
		t.Errorf("AppendObject() in the shape PartialList: error = %v, want status 406", err)
	}
}

// TestPrettyAndYAML compares indented JSON and YAML with the output of encoding/json and sigs.k8s.io/yaml, which Kubernetes
// uses.
func TestPrettyAndYAML(t *testing.T) {
	must := mustAppend(t)
	list := List{Kind: "DeploymentList", APIVersion: "apps/v1", ResourceVersion: 9}
	compact := must(AppendList(nil, View{}, list, objects(web, config), nil))
	var indented bytes.Buffer
	if err := json.Indent(&indented, []byte(strings.TrimSpace(compact)), "", "  "); err != nil {
		t.Fatal(err)
	}
	if got := must(AppendList(nil, View{Format: Format{Pretty: true}}, list, objects(web, config), nil)); got != indented.String() {
		t.Errorf("AppendList() of indented JSON =\n%s\nwant\n%s", got, indented.String())
	}
	got := must(AppendList([]byte("---\n"), View{Format: Format{Encoding: YAML}}, list, objects(web, config), nil))
	back, err := yaml.YAMLToJSON([]byte(got))
	if err != nil {
		t.Fatal(err)
	}
	var gotValue, wantValue any
	decode(t, string(back), &gotValue)
	decode(t, compact, &wantValue)
	if fmt.Sprint(gotValue) != fmt.Sprint(wantValue) {
		t.Errorf("AppendList() in YAML =\n%s\nwhich decodes to %v, want %v", got, gotValue, wantValue)
	}
}

// TestDifferenceDeepObjectsAreNotIndented checks that an object is not indented if the indentation would be far larger than
// the object.
func TestDifferenceDeepObjectsAreNotIndented(t *testing.T) {
	must := mustAppend(t)
	deep := func(levels int) rawJSON {
		return rawJSON(`{"a":"]\"]","b":` + strings.Repeat("[", levels) + `1,2,{}` + strings.Repeat("]", levels) + `}`)
	}
	for text, want := range map[string]int{`{"a":[1,2]}`: 2 + 4 + 4 + 2, `{"a":"[[\"[[,","b":1}`: 2 + 2} {
		if got := indentationSize([]byte(text)); got != want {
			t.Errorf("indentationSize(%s) = %d bytes, want %d", text, got, want)
		}
	}
	for levels, isIndented := range map[int]bool{1: true, 10: true, 5000: false} {
		var want bytes.Buffer
		if err := json.Indent(&want, []byte(deep(levels)), "", "  "); err != nil {
			t.Fatal(err)
		}
		if !isIndented {
			want.Reset()
			want.WriteString(string(deep(levels)) + "\n")
		}
		if got := must(AppendObject(nil, View{Format: Format{Pretty: true}}, deep(levels))); got != want.String() {
			t.Errorf("%d levels: got %d bytes that begin with %.100q, want %d that begin with %.100q", levels, len(got), got, want.Len(), want.String())
		}
	}
}

func TestAppendList(t *testing.T) {
	must := mustAppend(t)
	bareWeb := strings.Replace(web, `"apiVersion":"apps/v1","kind":"Deployment",`, "", 1)
	bareConfig := `{"data":{"kind":"\"},{","metadata":"}"},"metadata":{"name":"c"}}`
	list := List{Kind: "DeploymentList", APIVersion: "apps/v1", ResourceVersion: 123, Continue: "c\"", Remaining: 5}
	opening := `{"kind":"DeploymentList","apiVersion":"apps/v1","metadata":{"resourceVersion":"123","continue":"c\"","remainingItemCount":5},"items":[`
	if got, want := must(AppendList(nil, View{}, list, objects(web, config), nil)), opening+bareWeb+","+bareConfig+"]}\n"; got != want {
		t.Errorf("AppendList() of untyped items =\n%s\nwant\n%s", got, want)
	}
	list.TypedItems = true
	if got, want := must(AppendList(nil, View{}, list, objects(web, config), nil)), opening+web+","+config+"]}\n"; got != want {
		t.Errorf("AppendList() of typed items =\n%s\nwant\n%s", got, want)
	}
	if got, want := must(AppendList(nil, View{}, List{Kind: "PodList", APIVersion: "v1"}, objects(), nil)), `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[]}`+"\n"; got != want {
		t.Errorf("AppendList() without objects =\n%s\nwant\n%s", got, want)
	}
	partial := must(AppendList(nil, View{Format: Format{Shape: PartialList}}, List{ResourceVersion: 3}, objects(config, config), nil))
	item := `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"c"}}`
	if want := `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"3"},"items":[` + item + "," + item + "]}\n"; partial != want {
		t.Errorf("AppendList() in the shape PartialList =\n%s\nwant\n%s", partial, want)
	}
	if _, err := AppendList(nil, View{Format: Format{Shape: Partial}}, list, objects(), nil); StatusOf(err).Code != 406 {
		t.Errorf("AppendList() in the shape Partial: error = %v, want status 406", err)
	}
}

// TestWithoutType checks that withoutType removes apiVersion and kind only at the top level, at any position.
func TestWithoutType(t *testing.T) {
	for text, want := range map[string]string{
		`{"apiVersion":"v1","kind":"Pod"}`:                            `{}`,
		`{"apiVersion":"v1"}`:                                         `{}`,
		`{"a":1,"kind":"Pod"}`:                                        `{"a":1}`,
		`{"a":{"kind":"b"},"apiVersion":"v1","kind":"Pod","z":[]}`:    `{"a":{"kind":"b"},"z":[]}`,
		`{"a":"\\","apiVersion":"v1","b":"\\\"","kind":"Pod","c":{}}`: `{"a":"\\","b":"\\\"","c":{}}`,
		`{}`:     `{}`,
		``:       ``,
		`{"kind`: `{"kind`,
	} {
		if got := string(withoutType([]byte(text))); got != want {
			t.Errorf("withoutType(%s) = %s, want %s", text, got, want)
		}
	}
}

func TestEvents(t *testing.T) {
	must := mustAppend(t)
	events, err := NewWatchEncoder(View{Format: Format{Pretty: true}})
	if err != nil {
		t.Fatal(err)
	}
	got := must(events.Append(nil, "ADDED", rawJSON(config)))
	got += must(events.AppendBookmark(nil, Bookmark{Kind: "ConfigMap", APIVersion: "v1", ResourceVersion: 12}))
	got += must(events.AppendBookmark(nil, Bookmark{Kind: "ConfigMap", APIVersion: "v1", ResourceVersion: 12, InitialEnd: true}))
	got += must(events.AppendError(nil, apierrors.NewResourceExpired("too old")))
	want := `{"type":"ADDED","object":` + config + `}
{"type":"BOOKMARK","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"12"}}}
{"type":"BOOKMARK","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"12","annotations":{"k8s.io/initial-events-end":"true"}}}}
{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old","reason":"Expired","code":410}}
`
	if got != want {
		t.Errorf("watch events =\n%s\nwant\n%s", got, want)
	}
	if _, err := NewWatchEncoder(View{Format: Format{Shape: PartialList}}); StatusOf(err).Code != 406 {
		t.Errorf("NewWatchEncoder() in the shape PartialList: error = %v, want status 406", err)
	}
}

func TestStatusOf(t *testing.T) {
	notFound := apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, "web")
	for _, test := range []struct {
		err    error
		code   int32
		reason metav1.StatusReason
	}{
		{notFound, 404, metav1.StatusReasonNotFound},
		{fmt.Errorf("reading: %w", notFound), 404, metav1.StatusReasonNotFound},
		{errors.New("disk is full"), 500, metav1.StatusReasonUnknown},
		{&apierrors.StatusError{}, 500, metav1.StatusReasonUnknown},
		{&apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusSuccess}}, 200, metav1.StatusReasonUnknown},
	} {
		if s := StatusOf(test.err); s.Code != test.code || s.Reason != test.reason || s.Status == "" {
			t.Errorf("StatusOf(%v) = %+v, want code %d, reason %s", test.err, s, test.code, test.reason)
		}
	}
	status := StatusOf(errors.New("disk is full"))
	got := mustAppend(t)(AppendStatus(nil, Format{Shape: Table}, &status))
	if want := `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"disk is full","code":500}` + "\n"; got != want {
		t.Errorf("AppendStatus() =\n%s\nwant\n%s", got, want)
	}
}

// TestListAllocations checks that the number of allocations for a list does not depend on its length.
func TestListAllocations(t *testing.T) {
	buffer := make([]byte, 0, 1<<20)
	cost := func(n int) float64 {
		list := slices.Values(slices.Repeat([]Object{rawJSON(web)}, n))
		return testing.AllocsPerRun(10, func() {
			_, _ = AppendList(buffer, View{}, List{Kind: "DeploymentList", APIVersion: "apps/v1"}, list, nil)
		})
	}
	if one, many := cost(1), cost(1000); one != many {
		t.Errorf("AppendList() of 1000 objects: got %v allocations, want %v, as for 1 object", many, one)
	}
}

// TestAllocations checks that encoding objects and events does not allocate memory.
func TestAllocations(t *testing.T) {
	buffer := make([]byte, 0, 1<<16)
	var object Object = rawJSON(web)
	events, err := NewWatchEncoder(View{})
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func(){
		"object":  func() { _, _ = AppendObject(buffer, View{}, object) },
		"partial": func() { _, _ = AppendObject(buffer, View{Format: Format{Shape: Partial}}, object) },
		"event":   func() { events.Append(buffer, "ADDED", object) },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("appending the %s: got %v allocations, want 0", name, n)
		}
	}
}
