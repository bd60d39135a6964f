package applytest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
)

// TestCurlRepeats checks that the curl command in a failure report sends the same request as the script, even if the
// command is indented.
func TestCurlRepeats(t *testing.T) {
	for _, program := range []string{"bash", "curl", "base64"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
	requests, bodies := make(chan *http.Request, 1), make(chan []byte, 1)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		requests <- r
		bodies <- body
	}))
	defer s.Close()
	for name, test := range map[string]struct {
		header http.Header
		body   string
	}{
		"YAML":       {http.Header{"Content-Type": {"application/apply-patch+yaml"}}, "data:\n  a: \"it's\"\n  b: |\n    \\n é\n\t\u0085 100%\n"},
		"headers":    {http.Header{"Content-Type": {"application/json"}, "If-None-Match": {`"x"`}, "X-Other": {"1"}}, "{}"},
		"user agent": {http.Header{"User-Agent": {"me/1"}}, ""},
		"no type":    {http.Header{}, "{}"},
		"CBOR":       {http.Header{"Content-Type": {"application/cbor"}}, "\xd9\xd9\xf7\xa1\x00\n'"},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, s.URL+"/a?b=c%20d", strings.NewReader(test.body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header = test.header
		command := indent(curlCommand(request, []byte(test.body)))
		if out, err := exec.CommandContext(t.Context(), "bash", "-c", command).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", command, err, out)
		}
		sent, sentBody := <-requests, <-bodies
		if sent.URL.RequestURI() != "/a?b=c%20d" || !bytes.Equal(sentBody, []byte(test.body)) {
			t.Errorf("%s: %s: sent %s %q, want %q", name, command, sent.URL, sentBody, test.body)
		}
		want := test.header.Clone()
		if want.Get("User-Agent") == "" {
			want.Set("User-Agent", userAgent)
		}
		for name := range sent.Header {
			if name != "Accept" && name != "Content-Length" && sent.Header.Get(name) != want.Get(name) {
				t.Errorf("%s: sent the header %s: %q, want %q", command, name, sent.Header.Get(name), want.Get(name))
			}
		}
		for name := range want {
			if sent.Header.Get(name) != want.Get(name) {
				t.Errorf("%s: sent the header %s: %q, want %q", command, name, sent.Header.Get(name), want.Get(name))
			}
		}
	}
}

// TestCurlIsShort checks that the curl command does not contain a large body.
func TestCurlIsShort(t *testing.T) {
	request := httptest.NewRequest(http.MethodPost, "/a", nil)
	command := curlCommand(request, make([]byte, 3<<20))
	if len(command) > 300 || !strings.Contains(command, "--data-binary @body") || !strings.Contains(command, "3145728 bytes") {
		t.Errorf("curlCommand() = %.300s, want a short command without the body", command)
	}
}
