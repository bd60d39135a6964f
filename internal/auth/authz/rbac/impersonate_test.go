package rbac

import (
	"reflect"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/internal/auth/authn"
)

func TestImpersonate(t *testing.T) {
	w := newKit(t)
	rules := map[string][]string{
		"old-user":    {"impersonate core users names=bob"},
		"old-group":   {"impersonate core users", "impersonate core groups names=dev"},
		"old-account": {"impersonate core serviceaccounts"},
		"old-all":     {"impersonate core users groups serviceaccounts", "impersonate authentication.k8s.io uids userextras/example.org/scopes"},
		"on-user":     {"impersonate:user-info authentication.k8s.io users groups uids userextras/example.org/scopes", "impersonate-on:user-info:list core pods"},
		"on-account":  {"impersonate:serviceaccount authentication.k8s.io serviceaccounts", "impersonate-on:serviceaccount:* core pods"},
		"on-node":     {"impersonate:arbitrary-node authentication.k8s.io nodes names=n1", "impersonate-on:arbitrary-node:list core pods"},
		"on-own-node": {"impersonate:associated-node authentication.k8s.io nodes", "impersonate-on:associated-node:list core pods"},
		"many":        {"impersonate:user-info authentication.k8s.io users", "impersonate:user-info authentication.k8s.io groups userextras/* names=*", "impersonate-on:user-info:list core pods"},
		"none":        nil,
	}
	for name, r := range rules {
		w.role("", name, r...)
		w.bind("", name, name, "user:"+name, "account:kube-system/"+name)
	}
	agent := &authn.User{Name: "system:serviceaccount:kube-system:on-own-node", Extra: map[string][]string{nodeNameExtra: {"n1"}}}
	known, groups, scopes := authn.AuthenticatedGroup, []string{"dev"}, map[string][]string{"example.org/scopes": {"a", "b"}}
	for _, test := range []struct {
		requester *authn.User
		wanted    authn.User
		request   string
		want      string // the groups of the impersonated user, or a part of the error
		allowed   bool
	}{
		{newUser("old-user"), authn.User{Name: "bob"}, "list core pods", known, true},
		{newUser("old-user"), authn.User{Name: "eve"}, "list core pods", `pods is forbidden: User "old-user" cannot impersonate-on:user-info:list resource "pods" in API group "" at the cluster scope`, false},
		{newUser("old-user"), authn.User{Name: "bob", Groups: groups}, "list core pods", "cannot impersonate", false},
		{newUser("old-user"), authn.User{Name: "bob", UID: "7"}, "list core pods", "cannot impersonate", false},
		{newUser("old-user"), authn.User{Name: "bob", Extra: scopes}, "list core pods", "cannot impersonate", false},
		{newUser("old-group"), authn.User{Name: "eve", Groups: groups}, "get - /x", "dev " + known, true},
		{newUser("old-group"), authn.User{Name: "eve", Groups: []string{"dev", "ops"}}, "list core pods", "cannot impersonate", false},
		{newUser("old-account"), authn.User{Name: "system:serviceaccount:red:builder"}, "get core pods", "system:serviceaccounts system:serviceaccounts:red " + known, true},
		{newUser("old-account"), authn.User{Name: "bob"}, "get core pods", "cannot impersonate", false},
		{newUser("old-user"), authn.User{Name: "system:serviceaccount:red:builder"}, "list core pods", "cannot impersonate-on:serviceaccount:list", false},
		{newUser("old-all"), authn.User{Name: "bob", UID: "7", Groups: []string{authn.MastersGroup}, Extra: scopes}, "list core pods", "system:masters " + known, true},
		{newUser("old-all"), authn.User{Name: "system:serviceaccount:red:builder", Groups: groups}, "list core pods", "dev " + known, true},
		{newUser("old-all"), authn.User{Name: authn.AnonymousUser}, "list core pods", authn.UnauthenticatedGroup, true},
		{newUser("old-all"), authn.User{Name: "system:node:n1"}, "list core pods", known, true},
		{newUser("old-all"), authn.User{Name: "bob", Extra: map[string][]string{"other": {"a"}}}, "list core pods", "cannot impersonate", false},
		{newUser("on-user"), authn.User{Name: "bob", UID: "7", Groups: groups, Extra: scopes}, "list core pods", "dev " + known, true},
		{newUser("on-user"), authn.User{Name: "bob"}, "get core pods", "cannot impersonate-on:user-info:get", false},
		{newUser("on-user"), authn.User{Name: "bob", Groups: []string{authn.MastersGroup}}, "list core pods", "impersonating the system:masters group is not allowed", false},
		{newUser("on-user"), authn.User{Name: "bob", Groups: []string{""}}, "list core pods", "empty string group", false},
		{newUser("on-user"), authn.User{Name: "bob", Extra: map[string][]string{"example.org/Scopes": {"a"}}}, "list core pods", "not allowed", false},
		{newUser("on-user"), authn.User{Name: "bob", Extra: map[string][]string{"": {"a"}}}, "list core pods", "empty string key", false},
		{newUser("on-user"), authn.User{Name: "bob", Extra: map[string][]string{"example.org/scopes": {""}}}, "list core pods", "empty string value", false},
		{newUser("on-user"), authn.User{Name: "system:serviceaccount:red:builder"}, "list core pods", "cannot impersonate", false},
		{newUser("on-account"), authn.User{Name: "system:serviceaccount:red:builder"}, "watch core pods", "cannot impersonate-on:serviceaccount:watch", false},
		{newUser("on-node"), authn.User{Name: "system:node:n1"}, "list core pods", authn.NodesGroup + " " + known, true},
		{newUser("on-node"), authn.User{Name: "system:node:n2"}, "list core pods", `nodes.authentication.k8s.io "n2" is forbidden`, false},
		{agent, authn.User{Name: "system:node:n1"}, "list core pods", authn.NodesGroup + " " + known, true},
		{agent, authn.User{Name: "system:node:n2"}, "list core pods", "cannot impersonate-on:arbitrary-node:list", false},
		{newUser("many"), authn.User{Name: "bob", Groups: []string{"a", "b", "c", "d"}, Extra: map[string][]string{"example.org/a": {"1", "2"}, "example.org/b": {"3", "4"}}}, "list core pods", "a b c d " + known, true},
		{newUser("many"), authn.User{Name: "bob", Groups: []string{"a", "b", "c"}}, "list core pods", "cannot impersonate:user-info", false},
		{newUser("none"), authn.User{Name: "bob"}, "list core pods", "cannot impersonate", false},
		{newUser("m", authn.MastersGroup), authn.User{Name: "bob"}, "list core pods", known, true},
	} {
		wanted := test.wanted
		got, _, err := Impersonate(t.Context(), w.Authorizer, newAttributes(test.requester, test.request), &wanted)
		switch {
		case (err == nil) != test.allowed:
			t.Errorf("%s as %+v: Impersonate() = %+v, %v; allowed = %v, want %v", test.requester.Name, test.wanted, got, err, err == nil, test.allowed)
		case err != nil:
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s as %+v: Impersonate() = %q, want an error with %q", test.requester.Name, test.wanted, err, test.want)
			}
		case strings.Join(got.GetGroups(), " ") != test.want || got.GetName() != wanted.Name || got.GetUID() != wanted.UID || !reflect.DeepEqual(got.GetExtra(), wanted.Extra):
			t.Errorf("%s as %+v: Impersonate() = %+v, want groups %s", test.requester.Name, test.wanted, got, test.want)
		}
		if !reflect.DeepEqual(wanted, test.wanted) {
			t.Errorf("argument after Impersonate() = %+v, want %+v", wanted, test.wanted)
		}
	}
}
