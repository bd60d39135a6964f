package applyruntime_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/applyruntime"
)

const marker = `{"k8s_io__value":"unset"}`

// TestRoundTrip checks the JSON of configurations with marks, and that reading it returns the same configuration.
func TestRoundTrip(t *testing.T) {
	for _, test := range []struct {
		name   string
		config shop
		want   string
	}{
		{"no fields", shop{}, `{}`},
		{"values", shop{TypeMeta: TypeMeta{Kind: ptr("Shop")}, Spec: &shopSpec{Size: ptr(int32(0)), Open: ptr(false)}},
			`{"kind":"Shop","spec":{"size":0,"open":false}}`},
		{"empty struct", shop{Spec: &shopSpec{}}, `{"spec":{}}`},
		{"field", shop{UnsetMarks: unset("spec")}, `{"spec":` + marker + `}`},
		{"fields", shop{Spec: &shopSpec{UnsetMarks: unset("size", "ports", "selector", "open")}},
			`{"spec":{"size":` + marker + `,"open":` + marker + `,"ports":` + marker + `,"selector":` + marker + `}}`},
		{"field of an embedded struct with a name", shop{ObjectMeta: &ObjectMeta{Name: ptr("a"), UnsetMarks: unset("labels")}},
			`{"metadata":{"name":"a","labels":` + marker + `}}`},
		{"entry", shop{ObjectMeta: &ObjectMeta{Labels: map[string]string{"b": "<1>"}, UnsetMarks: (*applyruntime.Marks)(nil).WithEntry("labels", "a").WithEntry("labels", "c/d")}},
			`{"metadata":{"labels":{"a":` + marker + `,"b":"\u003c1\u003e","c/d":` + marker + `}}}`},
		{"entry of structs", shop{Spec: &shopSpec{Floors: map[string]step{"1": {Command: ptr("x"), UnsetMarks: unset("next")}}, UnsetMarks: (*applyruntime.Marks)(nil).WithEntry("floors", "2")}},
			`{"spec":{"floors":{"1":{"command":"x","next":` + marker + `},"2":` + marker + `}}}`},
		{"item", shop{Spec: &shopSpec{Ports: []port{{Port: ptr(int32(80)), Protocol: ptr("UDP"), UnsetMarks: (*applyruntime.Marks)(nil).WithItem()}, {Port: ptr(int32(81)), UnsetMarks: (*applyruntime.Marks)(nil).WithItem()}, {Port: ptr(int32(82)), UnsetMarks: unset("name")}}}},
			`{"spec":{"ports":[{"port":80,"protocol":"UDP","k8s_io__value":"unset"},{"port":81,"k8s_io__value":"unset"},{"port":82,"name":` + marker + `}]}}`},
		{"atomic list", shop{Spec: &shopSpec{Steps: []step{{Command: ptr("x")}}}}, `{"spec":{"steps":[{"command":"x"}]}}`},
		{"bytes", shop{Data: map[string][]byte{"a": {1, 2}}}, `{"data":{"a":"AQI="}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := json.Marshal(test.config)
			if err != nil || string(got) != test.want {
				t.Fatalf("json.Marshal = %s, %v, want %s", got, err, test.want)
			}
			var read shop
			if err := json.Unmarshal(got, &read); err != nil || !reflect.DeepEqual(read, test.config) {
				again, _ := json.Marshal(read)
				t.Errorf("json.Unmarshal = %s, %v, want the configuration %s", again, err, got)
			}
		})
	}
}

// TestInlinedMarks checks the marks of inlined structs, which are read into the struct that contains them.
func TestInlinedMarks(t *testing.T) {
	config := shop{Spec: &shopSpec{Source: Source{Local: ptr("x"), UnsetMarks: unset("git")}, UnsetMarks: unset("size")}}
	const want = `{"spec":{"size":` + marker + `,"git":` + marker + `,"local":"x"}}`
	if got, err := json.Marshal(config); err != nil || string(got) != want {
		t.Fatalf("json.Marshal = %s, %v, want %s", got, err, want)
	}
	var read shop
	if err := json.Unmarshal([]byte(want), &read); err != nil {
		t.Fatal(err)
	}
	if got, err := json.Marshal(read); err != nil || string(got) != want {
		t.Errorf("json.Marshal after json.Unmarshal = %s, %v, want %s", got, err, want)
	}
}

// TestLastCallWins checks that a value takes precedence over a mark, and that the mark of a map and the marks of its
// entries replace each other.
func TestLastCallWins(t *testing.T) {
	entries := (*applyruntime.Marks)(nil).WithField("labels").WithEntry("labels", "a")
	whole := (*applyruntime.Marks)(nil).WithEntry("labels", "a").WithField("labels").WithField("labels")
	for _, test := range []struct {
		config shop
		want   string
	}{
		{shop{Spec: &shopSpec{Size: ptr(int32(1)), UnsetMarks: unset("size")}}, `{"spec":{"size":1}}`},
		{shop{ObjectMeta: &ObjectMeta{UnsetMarks: entries}}, `{"metadata":{"labels":{"a":` + marker + `}}}`},
		{shop{ObjectMeta: &ObjectMeta{UnsetMarks: whole}}, `{"metadata":{"labels":` + marker + `}}`},
		{shop{ObjectMeta: &ObjectMeta{Labels: map[string]string{"a": "1"}, UnsetMarks: entries}}, `{"metadata":{"labels":{"a":"1"}}}`},
	} {
		if got, err := json.Marshal(test.config); err != nil || string(got) != test.want {
			t.Errorf("json.Marshal = %s, %v, want %s", got, err, test.want)
		}
	}
}

// TestInvalidMarks checks that Marshal returns an error with the path of a mark that no server accepts.
func TestInvalidMarks(t *testing.T) {
	item := (*applyruntime.Marks)(nil).WithItem()
	for _, test := range []struct {
		spec shopSpec
		want string
	}{
		{shopSpec{Steps: []step{{UnsetMarks: unset("command")}}}, "spec.steps[0]: expected no mark inside of an atomic value"},
		{shopSpec{Steps: []step{{}, {UnsetMarks: item}}}, "spec.steps[1]: expected a mark of an item in a list of type map"},
		{shopSpec{Ports: []port{{Name: ptr("x"), UnsetMarks: item}}}, "spec.ports[0]: expected the key port of the item to unset, received none"},
		{shopSpec{Selector: &selector{UnsetMarks: (*applyruntime.Marks)(nil).WithEntry("labels", "a")}}, "spec.selector: expected no mark inside"},
		{shopSpec{UnsetMarks: (*applyruntime.Marks)(nil).WithEntry("exact", "a")}, "spec.exact: expected no mark inside"},
		{shopSpec{Floors: map[string]step{"1": {UnsetMarks: item}}}, `spec.floors["1"]: expected a mark of an item`},
	} {
		_, err := json.Marshal(shop{Spec: &test.spec})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("json.Marshal = %v, want an error that contains %q", err, test.want)
		}
	}
}

func TestUnmarshalErrors(t *testing.T) {
	for text, want := range map[string]string{
		`{"spec":1}`:                     "spec: expected a value of type applyruntime_test.shopSpec",
		`{"spec":{"size":"x"}}`:          "spec.size",
		`{"spec":{"ports":[{},[]]}}`:     "spec.ports[1]: expected",
		`{"spec":{"floors":{"a":true}}}`: `spec.floors["a"]: expected`,
		`{} {}`:                          "invalid character",
	} {
		if err := json.Unmarshal([]byte(text), &shop{}); err == nil || !strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), "cannot unmarshal string") {
			t.Errorf("json.Unmarshal(%s) = %v, want an error that contains %q", text, err, want)
		}
	}
	if err := applyruntime.Unmarshal([]byte(`{}`), &struct{}{}); err == nil {
		t.Error("Unmarshal into another struct succeeded, want an error")
	}
	if _, err := applyruntime.Marshal(shop{}); err == nil {
		t.Error("Marshal of a struct that is no pointer succeeded, want an error")
	}
	if err := json.Unmarshal([]byte(`{"Spec":{"size":1},"unknown":2}`), &shop{}); err != nil {
		t.Errorf("json.Unmarshal of unknown fields = %v, want success", err)
	}
}

// object returns an object with an Apply entry of the manager "me" at v1.
func object(content, fields string) json.RawMessage {
	content = strings.TrimSuffix(content, "}")
	if content != "{" {
		content += ","
	}
	return json.RawMessage(content + `"metadata":{"name":"a","labels":{"x":"1","y":"2"},"finalizers":["f","g"],"managedFields":[
		{"manager":"me","operation":"Update","apiVersion":"v1","fieldsV1":{"f:spec":{"f:open":{}}}},
		{"manager":"me","operation":"Apply","apiVersion":"v1","fieldsV1":` + fields + `}]}}`)
}

// TestExtract checks that the extracted configuration contains the owned fields, and marks for those that are absent.
func TestExtract(t *testing.T) {
	const spec = `{"kind":"Shop","spec":{"size":3,"open":true,"ports":[{"port":80,"name":"http"},{"port":81,"protocol":"UDP","name":"dns"}],` +
		`"steps":[{"command":"a"}],"selector":{"labels":{"a":"b"}},"floors":{"1":{"command":"c"}},"exact":{"e":"1"},"free":{"a":{"b":1,"c":2},"l":[1]},"local":"x"}}`
	for _, test := range []struct{ name, fields, want string }{
		{"scalar", `{"f:spec":{"f:size":{}}}`, `{"spec":{"size":3}}`},
		{"absent scalar", `{"f:spec":{"f:size":{},"f:git":{}}}`, `{"spec":{"size":3,"git":` + marker + `}}`},
		{"labels", `{"f:metadata":{"f:labels":{".":{},"f:x":{},"f:z":{}}}}`, `{"metadata":{"labels":{"x":"1","z":` + marker + `}}}`},
		{"set", `{"f:metadata":{"f:finalizers":{"v:\"g\"":{}}}}`, `{"metadata":{"finalizers":["g"]}}`},
		{"items", `{"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{}},"k:{\"port\":81,\"protocol\":\"UDP\"}":{"f:name":{}}}}}`,
			`{"spec":{"ports":[{"port":80},{"port":81,"protocol":"UDP","name":"dns"}]}}`},
		{"absent item", `{"f:spec":{"f:ports":{"k:{\"port\":99,\"protocol\":\"TCP\"}":{}}}}`,
			`{"spec":{"ports":[{"port":99,"protocol":"TCP","k8s_io__value":"unset"}]}}`},
		{"absent field of an item", `{"f:spec":{"f:ports":{"k:{\"port\":80, \"protocol\":\"TCP\"}":{"f:name":{},"f:protocol":{}}}}}`,
			`{"spec":{"ports":[{"port":80,"protocol":` + marker + `,"name":"http"}]}}`},
		{"atomic list", `{"f:spec":{"f:steps":{}}}`, `{"spec":{"steps":[{"command":"a"}]}}`},
		{"atomic struct", `{"f:spec":{"f:selector":{}}}`, `{"spec":{"selector":{"labels":{"a":"b"}}}}`},
		{"atomic map", `{"f:spec":{"f:exact":{}}}`, `{"spec":{"exact":{"e":"1"}}}`},
		{"empty struct", `{"f:spec":{}}`, `{"spec":{}}`},
		{"map of structs", `{"f:spec":{"f:floors":{"f:1":{"f:command":{},"f:next":{"f:command":{}}}}}}`,
			`{"spec":{"floors":{"1":{"command":"c","next":{"command":` + marker + `}}}}}`},
		{"without schema", `{"f:spec":{"f:free":{"f:a":{"f:b":{}},"f:l":{}}}}`, `{"spec":{"free":{"a":{"b":1},"l":[1]}}}`},
		{"inlined", `{"f:spec":{"f:local":{}}}`, `{"spec":{"local":"x"}}`},
		{"a scalar that was a map", `{"f:spec":{"f:size":{"f:a":{}}}}`, `{}`},
		{"unknown field", `{"f:other":{}}`, `{}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var config shop
			if err := applyruntime.Extract(object(spec, test.fields), &config, "v1", "me", ""); err != nil {
				t.Fatal(err)
			}
			if got, err := json.Marshal(config); err != nil || string(got) != test.want {
				t.Errorf("Extract = %s, %v, want %s", got, err, test.want)
			}
		})
	}
}

// TestExtractStringData checks that owned stringData of a Secret, which the server has moved to data, is extracted as
// text, not as a mark that would remove it.
func TestExtractStringData(t *testing.T) {
	var config shop
	err := applyruntime.Extract(object(`{"kind":"Secret","data":{"a":"aGk="}}`, `{"f:stringData":{"f:a":{}}}`), &config, "v1", "me", "")
	if err != nil || config.StringData["a"] != "hi" {
		t.Errorf("Extract = %v, %v, want stringData a: hi", config.StringData, err)
	}
}

func TestExtractErrors(t *testing.T) {
	config := &shop{}
	if err := applyruntime.Extract(json.RawMessage(`{"metadata":{"name":"a"}}`), config, "v1", "me", ""); !errors.Is(err, applyruntime.ErrNoManagedFields) {
		t.Errorf("Extract without managedFields = %v, want ErrNoManagedFields", err)
	}
	if err := applyruntime.Extract(object(`{}`, `{}`), config, "v2", "me", ""); err == nil || !strings.Contains(err.Error(), "read the object at that version") {
		t.Errorf("Extract at another version = %v, want an error that names the version", err)
	}
	for _, manager := range []string{"you", "me"} {
		if err := applyruntime.Extract(object(`{}`, `{}`), config, "v1", manager, "status"); err != nil || !reflect.DeepEqual(config, &shop{}) {
			t.Errorf("Extract without an entry = %v, %v, want no fields", config, err)
		}
	}
	for _, fields := range []string{`[]`, `7`} {
		if err := applyruntime.Extract(object(`{}`, fields), config, "v1", "me", ""); err == nil {
			t.Errorf("Extract with fieldsV1 %s succeeded, want an error", fields)
		}
	}
	if err := applyruntime.Extract([]int{1}, config, "v1", "me", ""); err == nil {
		t.Error("Extract from a list succeeded, want an error")
	}
}

func TestIntOrString(t *testing.T) {
	for text, want := range map[string]applyruntime.IntOrString{
		`80`: applyruntime.FromInt(80), `"25%"`: applyruntime.FromString("25%"), `"80"`: applyruntime.FromString("80"), `0`: {}, `""`: applyruntime.FromString(""),
	} {
		var got applyruntime.IntOrString
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("json.Unmarshal(%s) = %#v, %v, want %#v", text, got, err, want)
		}
		if again, err := json.Marshal(want); err != nil || string(again) != text {
			t.Errorf("json.Marshal(%#v) = %s, %v, want %s", want, again, err, text)
		}
	}
	if got := applyruntime.FromInt(-3).String() + applyruntime.FromString("x").String(); got != "-3x" {
		t.Errorf("String = %s, want -3x", got)
	}
	for _, text := range []string{`1.5`, `true`, `{}`} {
		if err := json.Unmarshal([]byte(text), &applyruntime.IntOrString{}); err == nil {
			t.Errorf("json.Unmarshal(%s) succeeded, want an error", text)
		}
	}
}

// TestMarkerInAtomicMap checks that a marker in an atomic map, which servers refuse, is not read as a mark.
func TestMarkerInAtomicMap(t *testing.T) {
	var read shop
	if err := json.Unmarshal([]byte(`{"spec":{"exact":{"a":`+marker+`}}}`), &read); err == nil {
		t.Errorf("json.Unmarshal of a marker in an atomic map = %v, want an error, because its values are strings", read.Spec.UnsetMarks)
	}
}

func TestIdentity(t *testing.T) {
	name, namespace, err := applyruntime.Identity(map[string]any{"metadata": map[string]any{"name": "a", "namespace": "b"}})
	if err != nil || name != "a" || namespace != "b" {
		t.Errorf("Identity = %s, %s, %v, want a, b", name, namespace, err)
	}
}
