package authn

import (
	"net/http"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/authentication/user"
)

func TestReload(t *testing.T) {
	tokens := staticTokens(t, "old,alice,u1\n")
	if err := tokens.Reload("tokens.csv", []byte("t1,alice,u1,\"a,b\"\n\nt2,bob,u2,c,ignored\nt3,carol,u3,\n")); err != nil {
		t.Fatal(err)
	}
	if err := tokens.Reload("tokens.csv", []byte("t5")); err == nil || !strings.Contains(err.Error(), "tokens.csv: line 1") {
		t.Errorf("Reload() of an invalid file = %v, want an error with the file and the line", err)
	}
	for token, want := range map[string]*User{
		"t1":  {Name: "alice", UID: "u1", Groups: []string{"a", "b", AuthenticatedGroup}},
		"t2":  {Name: "bob", UID: "u2", Groups: []string{"c", AuthenticatedGroup}},
		"t3":  {Name: "carol", UID: "u3", Groups: []string{AuthenticatedGroup}},
		"t4":  nil,
		"":    nil,
		"old": nil,
	} {
		response, ok, err := tokens.AuthenticateToken(t.Context(), token)
		if err != nil || ok != (want != nil) || ok && !reflect.DeepEqual(response.User, user.Info(want)) {
			t.Errorf("AuthenticateToken(%q) = %+v, %v, %v, want %+v", token, response, ok, err, want)
		}
	}
}

func TestInvalidTokenFiles(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"good,a,u\nsecret,alice\n", "line 2: expected at least 3 columns"},
		{"good,a,u\n\n\n,alice,u\n", "line 4: the token in the first column must not be empty"},
		{"secret,,u\n", "line 1: the user name in the second column must not be empty"},
		{"secret,alice,u\nsecret,bob,u\n", `line 2: expected a token of its own for user "bob"`},
		{"secret,alice,\"u\nx", "line"},
		{"secret\",alice,u\n", "line 1"},
	} {
		_, err := parseTokens(strings.NewReader(test.text))
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("parseTokens(%q) = %v, want an error with %q", test.text, err, test.want)
		}
	}
}

func TestBearerToken(t *testing.T) {
	for value, want := range map[string]string{
		"Bearer t1":    "t1",
		"bearer t1":    "t1",
		"  BEARER t1 ": "t1",
		"Bearer t1 t2": "t1",
		"Bearer  t1":   "",
		"Bearer":       "",
		"Bearer ":      "",
		"Basic dTpw":   "",
		"":             "",
	} {
		if got := bearerToken(http.Header{"Authorization": {value}}); got != want {
			t.Errorf("bearerToken(%q) = %q, want %q", value, got, want)
		}
	}
}
