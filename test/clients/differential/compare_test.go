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

// TestCompare: a server does not differ from another of its kind, and one that answers something else is found out,
// whatever in its answers that is.
func TestCompare(t *testing.T) {
	servers := Servers{
		Theirs: cadastretest.Start(t, cadastretest.WithoutControllers()),
		Ours:   cadastretest.Start(t, cadastretest.WithoutControllers()),
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
	for _, f := range compared(t, servers, histories) {
		if f.Differs() {
			t.Errorf("seed %d: %s", f.History.Seed, f.Failure)
		}
		if f.Unusable == "" {
			usable++
		}
	}
	if usable < 40 {
		t.Errorf("only %d histories of %d could be compared", usable, len(histories))
	}
	for _, liar := range []liar{
		{says: "answer: expected status 201, received 200", code: http.StatusCreated, instead: http.StatusOK},
		{says: "object: .metadata.labels.lie: expected nothing", truth: `"labels":{`, lie: `"labels":{"lie":"1",`},
		{says: "owners: bob ", truth: `"manager":"bob"`, lie: `"manager":"eve"`},
		{says: "error: .message: ", truth: `"message":"Apply failed`, lie: `"message":"Apply broke`},
	} {
		t.Run(liar.says, func(t *testing.T) {
			t.Parallel()
			lied := Servers{Theirs: servers.Theirs, Ours: rest.CopyConfig(servers.Ours)}
			lied.Ours.Wrap(func(next http.RoundTripper) http.RoundTripper {
				liar.RoundTripper = next
				return liar
			})
			for _, f := range compared(t, lied, histories) {
				if f.Differs() && strings.Contains(strings.Join(f.Failure.Complaints, "\n"), liar.says) {
					return
				}
			}
			t.Error("nobody has noticed")
		})
	}
}

// TestUnusable: why a history can't be compared is told.
func TestUnusable(t *testing.T) {
	same := cadastretest.Start(t)
	histories := []History{
		{Steps: []Step{{Verb: "EDIT", Address: "configmaps/shared", Manager: "alice", Body: parsed(t, `data: {a: "1"}`)}}},
		{Steps: []Step{{Verb: "UPDATE", Address: "configmaps/shared", Manager: "alice", Body: parsed(t, `metadata: {uid: $uid}`)}}},
	}
	findings := compared(t, Servers{Theirs: same, Ours: same}, histories)
	for i, want := range []string{"/configmaps/shared: 404", neverMade} {
		if f := findings[i]; f.Differs() || !strings.Contains(f.Unusable, want) {
			t.Errorf("received %q, %v, want %q", f.Unusable, f.Failure, want)
		}
	}
}

func compared(t *testing.T, servers Servers, histories []History) []Finding {
	t.Helper()
	findings, err := servers.Compare(t.Context(), histories)
	if err != nil {
		t.Fatal(err)
	}
	return findings
}

// A liar tells of objects in namespaces something else than the server has said.
type liar struct {
	http.RoundTripper
	says          string // what is said about it
	code, instead int
	truth, lie    string
}

// RoundTrip implements http.RoundTripper.
func (l liar) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := l.RoundTripper.RoundTrip(request)
	if err != nil || !strings.Contains(request.URL.Path, "/namespaces/") {
		return response, err
	}
	if response.StatusCode == l.code {
		response.StatusCode = l.instead
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(bytes.ReplaceAll(body, []byte(l.truth), []byte(l.lie))))
	return response, nil
}
