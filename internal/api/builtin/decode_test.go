package builtin

import (
	"errors"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
)

func parse(t testing.TB, text string) document.Value {
	t.Helper()
	doc, err := document.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func mustType(t testing.TB, name string) *Type {
	t.Helper()
	of, ok := Builtin("io.k8s.api." + name)
	if !ok {
		t.Fatalf("Builtin(io.k8s.api.%s): ok = false, want true", name)
	}
	return of
}

func TestDecodeReturnsValidDocumentUnchanged(t *testing.T) {
	of, doc := complete(t)
	read, unknown, err := of.Decode(doc)
	if err != nil || len(unknown) > 0 || !document.Same(read, doc) {
		t.Errorf("Decode() = %v, unknown %q, error %v, want the same Value", read, unknown, err)
	}
}

func TestDecode(t *testing.T) {
	for _, test := range []struct{ of, in, want, unknown string }{
		{"apps.v1.Deployment", `{"spec":{"paused":false,"replicas":0,"strategy":{}}}`, `{"spec":{"paused":false,"replicas":0,"strategy":{}}}`, ""},
		{"apps.v1.Deployment", `{"metadata":{"labels":{},"finalizers":[]}}`, `{"metadata":{"finalizers":[],"labels":{}}}`, ""},
		{"apps.v1.Deployment", `{"spec":{"replicas":null,"selector":null}}`, `{"spec":{"selector":null}}`, ""},
		{"apps.v1.Deployment", `{"a":1,"spec":{"b":{"c":1}},"z":[]}`, `{"spec":{}}`, "a spec.b z"},
		{"core.v1.Pod", `{"spec":{"containers":[{"name":"x","y":1},{"z":1}]}}`, `{"spec":{"containers":[{"name":"x"},{}]}}`, "spec.containers[0].y spec.containers[1].z"},
		{"core.v1.Pod", `{"metadata":{"labels":{"a":null}},"spec":{"containers":[null,{"args":[null]}]}}`, `{"metadata":{"labels":{"a":""}},"spec":{"containers":[{},{"args":[""]}]}}`, ""},
		{"core.v1.Secret", `{"data":{"a":null,"b":"YR==","c":"YQ==\n"}}`, `{"data":{"a":"","b":"YQ==","c":"YQ=="}}`, ""},
		{"core.v1.ResourceQuota", `{"spec":{"hard":{"cpu":1,"memory":"1024Mi","pods":" 5 ","x":null}}}`, `{"spec":{"hard":{"cpu":"1","memory":"1Gi","pods":"5","x":"0"}}}`, ""},
		{"core.v1.ResourceQuota", `{"spec":{"hard":{"a":"1e999","b":"1e-0003","c":"12E","d":"1Ei"}}}`, `{"spec":{"hard":{"a":"1e999","b":"1e-0003","c":"12E","d":"1Ei"}}}`, ""},
		{"core.v1.Event", `{"eventTime":"2020-01-01T00:00:00.000001+01:00","lastTimestamp":"0001-01-01T00:00:00Z"}`, `{"eventTime":"2019-12-31T23:00:00.000001Z"}`, ""},
		{"apps.v1.Deployment", `{"metadata":{"generation":-0}}`, `{"metadata":{"generation":0}}`, ""},
		{"apps.v1.ControllerRevision", `{"data":{"x":null,"y":1.0},"revision":1}`, `{"data":{"x":null,"y":1.0},"revision":1}`, ""},
	} {
		read, unknown, err := mustType(t, test.of).Decode(parse(t, test.in))
		if err != nil || read.JSON() != test.want || strings.Join(unknown, " ") != test.unknown {
			t.Errorf("Decode(%s)\nwant %s, unknown %q\ngot  %v, unknown %q, error %v", test.in, test.want, test.unknown, read, unknown, err)
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	for _, test := range []struct{ of, in, path, want string }{
		{"apps.v1.Deployment", `{"spec":{"replicas":"x"}}`, "spec.replicas",
			`json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32 (spec.replicas: expected an integer of 32 bits, received "x")`},
		{"core.v1.Pod", `{"spec":{"containers":[{},{"livenessProbe":{"httpGet":5}}]}}`, "spec.containers[1].livenessProbe.httpGet",
			`json: cannot unmarshal number into Go struct field Probe.spec.containers.livenessProbe.ProbeHandler.httpGet of type v1.HTTPGetAction (spec.containers[1].livenessProbe.httpGet: expected a map, received 5)`},
		{"core.v1.Pod", `{"spec":{"containers":[{"resources":{"limits":{"cpu":"x"}}}]}}`, "spec.containers[0].resources.limits.cpu",
			`quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$' (spec.containers[0].resources.limits.cpu: expected a quantity such as 500m, 1.5 or 2Gi, received "x")`},
		{"core.v1.ResourceQuota", `{"spec":{"hard":{"cpu":"1e-999999999"}}}`, "spec.hard.cpu",
			`quantities have at most 128 characters and an exponent of at most 3 digits (spec.hard.cpu: expected a quantity such as 500m, 1.5 or 2Gi, received "1e-999999999")`},
		{"core.v1.ResourceQuota", `{"spec":{"hard":{"cpu":1E+1000}}}`, "spec.hard.cpu",
			`quantities have at most 128 characters and an exponent of at most 3 digits (spec.hard.cpu: expected a quantity such as 500m, 1.5 or 2Gi, received 1E+1000)`},
		{"core.v1.ResourceQuota", `{"spec":{"hard":{"cpu":"8999000E999"}}}`, "spec.hard.cpu", // 8999e1002 in canonical form
			`quantities have at most 128 characters and an exponent of at most 3 digits (spec.hard.cpu: expected a quantity such as 500m, 1.5 or 2Gi, received "8999000E999")`},
		{"core.v1.ResourceQuota", `{"spec":{"hard":{"cpu":"` + strings.Repeat("9", 129) + `"}}}`, "spec.hard.cpu",
			`quantities have at most 128 characters and an exponent of at most 3 digits (spec.hard.cpu: expected a quantity such as 500m, 1.5 or 2Gi, received a string)`},
		{"core.v1.Pod", `{"metadata":{"creationTimestamp":"x"}}`, "metadata.creationTimestamp",
			`parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006" (metadata.creationTimestamp: expected a time such as 2006-01-02T15:04:05Z, received "x")`},
		{"core.v1.Pod", `{"metadata":{"creationTimestamp":"0000-01-01T00:00:00+01:00"}}`, "metadata.creationTimestamp",
			`parsing time "0000-01-01T00:00:00+01:00" as "2006-01-02T15:04:05Z07:00": year outside of range [0,9999] (metadata.creationTimestamp: expected a time such as 2006-01-02T15:04:05Z, received "0000-01-01T00:00:00+01:00")`},
		{"core.v1.Secret", `{"data":{"a":"hidden!"}}`, "data.a",
			`illegal base64 data at input byte 6 (data.a: expected a string in base 64, received a string)`},
		{"core.v1.Secret", `{"stringData":{"a":1234}}`, "stringData.a",
			`json: cannot unmarshal number into Go struct field Secret.stringData of type string (stringData.a: expected a string, received a number)`},
		{"core.v1.Pod", `5`, "", `json: cannot unmarshal number into Go value of type v1.Pod (expected a map, received 5)`},
	} {
		_, _, err := mustType(t, test.of).Decode(parse(t, test.in))
		var bad *ValueError
		if !errors.As(err, &bad) || bad.Path != test.path || err.Error() != test.want {
			t.Errorf("Decode(%s)\nwant error %s\ngot        %v", test.in, test.want, err)
		}
	}
}

func TestDecodeWholeFloats(t *testing.T) {
	of := mustType(t, "apps.v1.Deployment")
	for _, test := range []struct {
		in, want string
		good     bool
	}{
		{"1.0", "1", true},
		{"1e2", "100", true},
		{"-2.0", "-2", true},
		{"1.5", "", false},
		{"2147483648.0", "", false},
		{"1e400", "", false},
	} {
		doc := parse(t, `{"spec":{"replicas":`+test.in+`}}`)
		if _, _, err := of.Decode(doc); err == nil {
			t.Errorf("Decode() of %s as an integer without WholeFloats: error = nil, want an error", test.in)
		}
		read, _, err := of.DecodeWith(doc, DecodeOptions{WholeFloats: true})
		if got := read.Lookup("spec", "replicas").Text(); test.good != (err == nil) || test.good && got != test.want {
			t.Errorf("DecodeWith() of %s as an integer with WholeFloats: got %s and error %v, want %q", test.in, got, err, test.want)
		}
	}
}

// TestDecodeKeepsUnparsedParts checks that decoding and defaulting do not change the unparsed parts of a document.
func TestDecodeKeepsUnparsedParts(t *testing.T) {
	const text = `{"metadata":{"managedFields":[{"z":1,"a":null}]}}`
	doc, err := fastdoc.ParseJSONExcept(text, document.Limits{}, "metadata", "managedFields")
	if err != nil {
		t.Fatal(err)
	}
	of := mustType(t, "core.v1.ConfigMap")
	read, unknown, err := of.Decode(doc)
	if err != nil || len(unknown) > 0 || !document.Same(read, doc) {
		t.Errorf("Decode() = %v, unknown %q, error %v, want the same Value", read, unknown, err)
	}
	if full := of.Default(doc); full.JSON() != doc.JSON() {
		t.Errorf("Default() = %v, want no change", full)
	}
}

func TestDecodeLimitsUnknownFields(t *testing.T) {
	var fields []document.Field
	for i := range 200 {
		fields = append(fields, document.Field{Name: "x" + strings.Repeat("y", i), Value: document.NewInt(1)})
	}
	_, unknown, err := mustType(t, "core.v1.Pod").Decode(document.NewMap(fields...))
	if err != nil || len(unknown) != 100 {
		t.Errorf("Decode() of 200 unknown fields: got %d unknown fields and error %v, want 100 and no error", len(unknown), err)
	}
}
