package wire

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/test/clients/target"
)

// cborGate is the argument that enables CBOR in kube-apiserver.
const cborGate = "--feature-gates=CBORServingAndStorage=true"

// TestCBORThatIsNotUTF8 checks that Cadastre rejects invalid UTF-8 in CBOR as it does in JSON. Kubernetes' CBOR encodes
// strings as byte strings, so invalid UTF-8 can be sent. kube-apiserver accepts it, and returns replacement characters
// in JSON and the original bytes in CBOR.
func TestCBORThatIsNotUTF8(t *testing.T) {
	s := connectTo(t, target.ConfigWith(t, cborGate))
	const maps = "/api/v1/namespaces/default/configmaps"
	// The body is {metadata: {name: odd}, data: {a: …}}; the value of a consists of two bytes that are not valid UTF-8.
	const body = "\xd9\xd9\xf7\xa2\x48metadata\xa1\x44name\x43odd\x44data\xa1\x41a\x42\xff\xfe"
	sent := s.call(t, http.MethodPost+" application/cbor", maps, body)
	got := s.call(t, http.MethodGet, maps+"/odd", "")
	if target.Implementation() == target.KubeAPIServer {
		if sent.code != http.StatusCreated || !strings.Contains(got.body, `"a":"\ufffd\ufffd"`) || !strings.Contains(s.cbor(t, maps+"/odd"), "\x42\xff\xfe") {
			t.Errorf("kube-apiserver rejects invalid UTF-8 or returns other bytes: POST = %d %s, GET = %s; update docs/differences.md", sent.code, sent.body, got.body)
		}
		return
	}
	if sent.code != http.StatusBadRequest || !strings.Contains(sent.body, "expected text in UTF-8") || got.code != http.StatusNotFound {
		t.Errorf("POST = %d %s, GET = %d; want 400 and 404", sent.code, sent.body, got.code)
	}
}

// cbor returns the response to a GET of path in CBOR.
func (s server) cbor(t *testing.T, path string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.host+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "application/cbor")
	response, err := s.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
