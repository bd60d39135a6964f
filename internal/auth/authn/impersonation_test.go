package authn

import (
	"net/http"
	"reflect"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func TestImpersonation(t *testing.T) {
	for _, test := range []struct {
		name   string
		header http.Header
		want   *User
		bad    bool
	}{
		{"none", http.Header{"Accept": {"*/*"}}, nil, false},
		{"user", http.Header{"Impersonate-User": {"bob"}}, &User{Name: "bob"}, false},
		{"all", http.Header{
			"Impersonate-User": {"bob"}, "Impersonate-Group": {"a", "b"}, "Impersonate-Uid": {"u1"},
			"Impersonate-Extra-Scopes": {"view", "edit"}, "Impersonate-Extra-Example.org%2fteam": {"red"},
		}, &User{Name: "bob", UID: "u1", Groups: []string{"a", "b"}, Extra: map[string][]string{"scopes": {"view", "edit"}, "example.org/team": {"red"}}}, false},
		{"bad escape", http.Header{"Impersonate-User": {"bob"}, "Impersonate-Extra-50%": {"x"}}, &User{Name: "bob", Extra: map[string][]string{"50%": {"x"}}}, false},
		{"group alone", http.Header{"Impersonate-Group": {"a"}}, nil, true},
		{"uid alone", http.Header{"Impersonate-Uid": {"a"}}, nil, true},
		{"extra alone", http.Header{"Impersonate-Extra-A": {"a"}}, nil, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Impersonation(test.header)
			if !reflect.DeepEqual(got, test.want) || apierrors.IsBadRequest(err) != test.bad {
				t.Errorf("Impersonation() = %+v, %v, want %+v; is a 400 = %v, want %v", got, err, test.want, apierrors.IsBadRequest(err), test.bad)
			}
			if got != nil && len(test.header) > 0 {
				t.Errorf("impersonation headers are not removed: %v", test.header)
			}
		})
	}
}

func TestSplitServiceAccount(t *testing.T) {
	for user, want := range map[string][2]string{
		"system:serviceaccount:default:builder": {"default", "builder"},
		"system:serviceaccount:default":         {},
		"system:serviceaccount:a:b:c":           {},
		"system:serviceaccount:Bad:builder":     {},
		"system:serviceaccount::builder":        {},
		"alice":                                 {},
	} {
		namespace, name, ok := SplitServiceAccount(user)
		if namespace != want[0] || name != want[1] || ok != (want[1] != "") {
			t.Errorf("SplitServiceAccount(%q) = %q, %q, %v, want %q", user, namespace, name, ok, want)
		}
		if ok && ServiceAccountUser(namespace, name) != user {
			t.Errorf("ServiceAccountUser(SplitServiceAccount(%q)) = %q, want the same name", user, ServiceAccountUser(namespace, name))
		}
	}
}

func TestSplitNode(t *testing.T) {
	for user, want := range map[string]string{"system:node:n1": "n1", "system:node:": "", "system:node:N_1": "", "n1": ""} {
		if name, ok := SplitNode(user); name != want || ok != (want != "") {
			t.Errorf("SplitNode(%q) = %q, %v, want %q", user, name, ok, want)
		}
	}
}

func TestWithImpliedGroup(t *testing.T) {
	for _, test := range []struct {
		user *User
		want []string
	}{
		{&User{Name: "a"}, []string{AuthenticatedGroup}},
		{&User{Name: "a", Groups: []string{AuthenticatedGroup, "b"}}, []string{AuthenticatedGroup, "b"}},
		{&User{Name: "a", Groups: []string{UnauthenticatedGroup}}, []string{UnauthenticatedGroup}},
		{&User{Name: AnonymousUser, Groups: []string{"b"}}, []string{"b", UnauthenticatedGroup}},
	} {
		if got := WithImpliedGroup(test.user).Groups; !reflect.DeepEqual(got, test.want) {
			t.Errorf("WithImpliedGroup(%+v) has groups %v, want %v", test.user, got, test.want)
		}
	}
}
