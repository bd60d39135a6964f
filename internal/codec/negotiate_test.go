package codec

import (
	"strings"
	"testing"
)

var endpointNames = map[string]Endpoint{"objects": Objects, "watch": Watch, "fixed": Fixed}

// describe returns a format as the oracle writes it.
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

// TestNegotiateAsKubernetes compares with what Kubernetes makes of the same headers.
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
	if compared < 300 {
		t.Errorf("compared %d answers", compared)
	}
}

// TestNegotiateFast compares the headers that need no reading with reading them.
func TestNegotiateFast(t *testing.T) {
	for _, header := range []string{acceptAny, acceptJSON, acceptTable} {
		for name, endpoint := range endpointNames {
			if fast, plain := describe(Negotiate(header, endpoint)), describe(negotiate(header, endpoint)); fast != plain {
				t.Errorf("%s at %s: %s, and when it is read %s", header, name, fast, plain)
			}
			if n := testing.AllocsPerRun(10, func() { _, _ = Negotiate(header, endpoint) }); n != 0 {
				t.Errorf("%s allocates %v times", header, n)
			}
		}
	}
}

func TestNotAcceptable(t *testing.T) {
	_, err := Negotiate("application/vnd.kubernetes.protobuf", Objects)
	if s := StatusOf(err); s.Code != 406 || s.Reason != "NotAcceptable" || s.Message != "only the following media types are accepted: application/json, application/yaml" {
		t.Errorf("%+v", s)
	}
	if f := NegotiateStatus("application/vnd.kubernetes.protobuf", "", ""); f != (Format{Pretty: true}) {
		t.Errorf("an error is told as %+v", f)
	}
	if f := NegotiateStatus(acceptTable, "", "curl/8"); f != (Format{Pretty: true}) {
		t.Errorf("an error is told to curl as %+v", f)
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
			t.Errorf("?%s by %s: %v, want %v", test.query, test.agent, got, test.want)
		}
	}
}
