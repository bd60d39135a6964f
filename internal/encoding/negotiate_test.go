package encoding

import (
	"strings"
	"testing"
)

var endpointNames = map[string]Endpoint{
	"objects": Objects, "watch": Watch, "fixed": Fixed, "custom objects": Objects | Untyped, "custom watch": Watch | Untyped,
}

// describe formats f and err, the results of Negotiate, in the notation of the file that contains Kubernetes' results.
func describe(f Format, err error) string {
	if err != nil {
		return err.Error()
	}
	answer := f.ContentType()
	if f.Shape != Whole {
		answer += " " + f.Shape.String() + " " + f.Meta.APIVersion()
	}
	if f.Pretty {
		answer += " pretty"
	}
	return answer
}

// TestNegotiateAsKubernetes compares the results of Negotiate with those of Kubernetes for the same Accept headers.
func TestNegotiateAsKubernetes(t *testing.T) {
	header, compared := "", 0
	for line := range strings.Lines(readTestdata(t, "accept.txt")) {
		line = strings.TrimSuffix(line, "\n")
		answer, ok := strings.CutPrefix(line, "  ")
		if !ok {
			header = line
			continue
		}
		endpoint, want, _ := strings.Cut(answer, ": ")
		got := describe(Negotiate(header, endpointNames[endpoint]))
		if got != want {
			t.Errorf("Accept: %s\n%s: %s\nwant %s", header, endpoint, got, want)
		}
		compared++
	}
	if compared < 850 {
		t.Errorf("%d results compared, want at least 850", compared)
	}
}

// kubectlAccept is the Accept header that kubectl get sends.
const kubectlAccept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"

// TestNegotiateCache checks that the same Accept header is not parsed a second time.
func TestNegotiateCache(t *testing.T) {
	for _, header := range []string{"", "*/*", "application/json", kubectlAccept, "application/json;drop=metadata.managedFields"} {
		for _, endpoint := range endpointNames {
			first, _ := Negotiate(header, endpoint)
			if again, _ := Negotiate(header, endpoint); again != first {
				t.Errorf("second Negotiate(%q) = %+v, want %+v", header, again, first)
			}
			if n := testing.AllocsPerRun(10, func() { _, _ = Negotiate(header, endpoint) }); n != 0 {
				t.Errorf("cached Negotiate(%q): got %v allocations, want 0", header, n)
			}
		}
	}
}

func TestNotAcceptable(t *testing.T) {
	_, err := Negotiate("text/html", Objects)
	if s := StatusOf(err); s.Code != 406 || s.Reason != "NotAcceptable" ||
		s.Message != "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf, application/cbor" {
		t.Errorf("Negotiate(text/html) = %+v, want code 406 and the accepted media types", s)
	}
	if f := NegotiateStatus("text/html", "", ""); f != (Format{Encoding: JSON, Pretty: true}) {
		t.Errorf("NegotiateStatus() = %+v, want indented JSON", f)
	}
	if f := NegotiateStatus(kubectlAccept, "", "curl/8"); f != (Format{Encoding: JSON, Pretty: true}) {
		t.Errorf("NegotiateStatus() for curl = %+v, want indented JSON", f)
	}
}

func TestPretty(t *testing.T) {
	for _, test := range []struct {
		query, agent string
		want         bool
	}{
		{"", "kubectl/v1.36", false},
		{"", "curl/8.0", true},
		{"", "Wget/1.2", true},
		{"", "Mozilla/5.0 (X11)", true},
		{"limit=5", "curl/8.0", true},
		{"pretty=true", "kubectl/v1.36", true},
		{"limit=5&pretty=1", "kubectl/v1.36", true},
		{"pretty=false", "curl/8.0", false},
		{"pretty=perhaps", "curl/8.0", false},
		{"pretty=", "curl/8.0", true},
		{"labelSelector=pretty", "kubectl/v1.36", false},
	} {
		if got := Pretty(test.query, test.agent); got != test.want {
			t.Errorf("Pretty(%q, %q) = %v, want %v", test.query, test.agent, got, test.want)
		}
	}
}

// TestDrop checks that the parameter drop of an Accept header is parsed correctly.
func TestDrop(t *testing.T) {
	for _, test := range []struct {
		accept string
		want   bool
	}{
		{"application/json", false},
		{"application/json;drop=metadata.managedFields", true},
		{"application/yaml;drop=metadata.managedFields", true},
		{"application/cbor;drop=metadata.managedFields", true},
		{"application/vnd.kubernetes.protobuf;drop=metadata.managedFields", true},
		{"*/*;drop=metadata.managedFields", true},
		{"application/json; drop = metadata.managedFields", true},
		{`application/json;drop="metadata.managedFields"`, true},
		{`application/json;DROP=metadata.managedFields`, true},
		{"application/json;drop=metadata.managedFields;as=Table;v=v1;g=meta.k8s.io", true},
		{"application/json;drop=metadata.annotations+metadata.managedFields", true},
		{"application/json;drop=metadata.managedFields+metadata.annotations", true},
		{`application/json;drop="metadata.annotations + metadata.managedFields"`, true},
		{"application/json;drop=metadata.annotations;drop=metadata.managedFields", true},
		{"application/json;drop=metadata.managedFields;drop=metadata.annotations", true},
		{"application/json;drop=metadata.managedFields;q=0.5", true},
		{`application/json;foo="a,b";drop=metadata.managedFields`, true},
		{`application/json;foo="a;b";drop=metadata.managedFields`, true},
		{`application/json;foo="\"a,b;";drop="metadata.managedFields"`, true},
		{`application/json;foo="a;drop=metadata.managedFields"`, false},
		{`application/json;foo="a;drop=metadata.managedFields;b"`, false},
		{`application/json;foo="a\";drop=metadata.managedFields;b"`, false},
		{`application/json;drop=metadata.managedFields;foo="a;drop=metadata.annotations;b"`, true},
		{`application/json;foo="a";drop=metadata.managedFields;bar="b"`, true},
		{`application/json;foo="a,application/json;drop=metadata.managedFields",application/yaml;q=0.5`, false},
		{`application/json;foo=";drop=metadata.managedFields`, true}, // the quote is not closed
		{`application/json;foo="a\`, false},
		{"application/json;drop=", false},
		{"application/json;drop", false},
		{"application/json;drop=+", false},
		{"application/json;drop=managedFields", false},
		{"application/json;drop=metadata.managedfields", false},
		{"application/json;drop=metadata.managedFields.", false},
		{"application/json;drop=metadata", false},
		{"application/json;dropped=metadata.managedFields", false},
		{"application/json;drop=metadata.managedFields,application/yaml", true},
		{"application/json,application/yaml;drop=metadata.managedFields", false},
		{"text/html;drop=metadata.managedFields,application/json", false},
		{"application/json;q=0.1;drop=metadata.managedFields,application/yaml", false},
		{"application/yaml;q=0.1,application/json;drop=metadata.managedFields", true},
	} {
		for name, endpoint := range endpointNames {
			f, err := Negotiate(test.accept, endpoint)
			if err != nil {
				if endpoint != Objects {
					continue // this endpoint does not support the format
				}
				t.Errorf("Negotiate(%q) = %v, want no error", test.accept, err)
			}
			if want := test.want && endpoint != Fixed; f.Drop != want {
				t.Errorf("Accept: %s at %s: Format.Drop = %v, want %v", test.accept, name, f.Drop, want)
			}
		}
	}
}

// TestDropTwice checks that a clause is not acceptable if one drop parameter names a field twice, unless the parameter is unknown.
func TestDropTwice(t *testing.T) {
	for accept, want := range map[string]string{
		"application/json;drop=metadata.managedFields+metadata.managedFields":               "",
		"application/json;drop=a+metadata.managedFields+a":                                  "",
		`application/json;drop="a + b + a"`:                                                 "",
		"application/json;drop=a+a,application/yaml":                                        "application/yaml",
		"application/json;drop=metadata.managedFields;drop=metadata.managedFields":          "application/json",
		"application/json;drop=++metadata.managedFields":                                    "application/json",
		"application/json;drop=" + strings.Repeat("+a", 1) + strings.Repeat("+", 1_000_000): "application/json",
	} {
		f, err := Negotiate(accept, Objects)
		received := ""
		if err == nil {
			received = f.Encoding.MediaType
		}
		if received != want {
			t.Errorf("Negotiate(%.100s) = %q, %v, want %q", accept, received, err, want)
		}
		if _, err := Negotiate(accept, Objects|IgnoreDrop); err != nil {
			t.Errorf("Negotiate(%.100s) with IgnoreDrop = %v, want no error", accept, err)
		}
	}
	if f, err := Negotiate("application/json;drop=metadata.managedFields", Watch|IgnoreDrop); err != nil || f.Drop {
		t.Errorf("Negotiate(…, Watch|IgnoreDrop) = %+v, %v, want a watch with managedFields", f, err)
	}
}

// TestAcceptsGzip checks how the weights in an Accept-Encoding header are evaluated.
func TestAcceptsGzip(t *testing.T) {
	for header, want := range map[string]bool{
		"gzip": true, "GZIP": true, "deflate, gzip;q=0.5": true, "br, gzip ; q=1": true, "gzip;x=y;q=0.1": true, "gzip;q=x": true,
		"gzip;q=0": false, "gzip; q=0.0": false, "gzip;Q=0": false, "br": false, "": false, "identity": false,
		"*": true, "*;q=0": false, "br, *;q=0.1": true,
		"*;q=0, gzip": true, "gzip, *;q=0": true, "*, gzip;q=0": false, "gzip;q=0, *": false,
	} {
		if received := AcceptsGzip(header); received != want {
			t.Errorf("AcceptsGzip(%q) = %v, want %v", header, received, want)
		}
	}
}
