package differential

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/cadastre/cadastre/cadastretest"
)

// TestCompare checks that two Cadastre servers do not differ, and that a server whose responses are modified in one part
// does, for each part of a response.
func TestCompare(t *testing.T) {
	servers := Servers{
		KubeAPIServer: cadastretest.Start(t, cadastretest.WithoutControllers()),
		Cadastre:      cadastretest.Start(t, cadastretest.WithoutControllers()),
	}
	forget, err := servers.Define(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := forget(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	var histories []History
	for seed := range uint64(60) {
		histories = append(histories, generated(t, seed))
	}
	usable := 0
	for _, f := range mustCompare(t, servers, histories) {
		if f.Differs() {
			t.Errorf("seed %d: two Cadastre servers differ, want no difference: %s", f.History.Seed, f.Failure)
		}
		if f.Unusable == "" {
			usable++
		}
	}
	if usable < 40 {
		t.Errorf("Compare() could compare %d of %d histories, want 40 or more", usable, len(histories))
	}
	for _, tampered := range []tamperedTransport{
		{complaint: "answer: expected status 201, received 200", code: http.StatusCreated, replacedCode: http.StatusOK},
		{complaint: "object: .metadata.labels.lie: expected nothing", original: `"labels":{`, modified: `"labels":{"lie":"1",`},
		{complaint: "owners: bob ", original: `"manager":"bob"`, modified: `"manager":"eve"`},
		{complaint: "error: .message: ", original: `"message":"Apply failed`, modified: `"message":"Apply broke`},
	} {
		t.Run(tampered.complaint, func(t *testing.T) {
			t.Parallel()
			withTampering := Servers{KubeAPIServer: servers.KubeAPIServer, Cadastre: rest.CopyConfig(servers.Cadastre)}
			withTampering.Cadastre.Wrap(func(next http.RoundTripper) http.RoundTripper {
				tampered.RoundTripper = next
				return tampered
			})
			for _, f := range mustCompare(t, withTampering, histories) {
				if f.Differs() && strings.Contains(strings.Join(f.Failure.Complaints, "\n"), tampered.complaint) {
					return
				}
			}
			t.Error("Compare() found no difference, want a difference at the modified response")
		})
	}
}

// TestUnusable checks that the finding for a history that cannot be compared contains the reason.
func TestUnusable(t *testing.T) {
	same := cadastretest.Start(t)
	histories := []History{
		{Steps: []Step{{Verb: "EDIT", Address: "configmaps/shared", Manager: "alice", Body: parsed(t, `data: {a: "1"}`)}}},
		{Steps: []Step{{Verb: "UPDATE", Address: "configmaps/shared", Manager: "alice", Body: parsed(t, `metadata: {uid: $uid}`)}}},
	}
	findings := mustCompare(t, Servers{KubeAPIServer: same, Cadastre: same}, histories)
	for i, want := range []string{"/configmaps/shared: 404", objectNeverCreated} {
		if f := findings[i]; f.Differs() || !strings.Contains(f.Unusable, want) {
			t.Errorf("Unusable = %q, Failure = %v, want Unusable %q", f.Unusable, f.Failure, want)
		}
	}
}

func mustCompare(t *testing.T, servers Servers, histories []History) []Finding {
	t.Helper()
	findings, err := servers.Compare(t.Context(), histories)
	if err != nil {
		t.Fatal(err)
	}
	return findings
}

// tamperedTransport is a round tripper that modifies responses with namespaced objects.
type tamperedTransport struct {
	http.RoundTripper
	complaint          string // the complaint that the modification must cause
	code, replacedCode int
	original, modified string
}

// RoundTrip implements http.RoundTripper.
func (tt tamperedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := tt.RoundTripper.RoundTrip(request)
	if err != nil || !strings.Contains(request.URL.Path, "/namespaces/") {
		return response, err
	}
	if response.StatusCode == tt.code {
		response.StatusCode = tt.replacedCode
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(bytes.ReplaceAll(body, []byte(tt.original), []byte(tt.modified))))
	return response, nil
}
