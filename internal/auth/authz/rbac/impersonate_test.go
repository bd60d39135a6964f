package rbac

import (
	"reflect"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/internal/auth/authn"
)

func TestImpersonate(t *testing.T) {
	w := newWorld(t)
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
		want      string // the groups, or a part of the error
		allowed   bool
	}{
		{user("old-user"), authn.User{Name: "bob"}, "list core pods", known, true},
		{user("old-user"), authn.User{Name: "eve"}, "list core pods", `pods is forbidden: User "old-user" cannot impersonate-on:user-info:list resource "pods" in API group "" at the cluster scope`, false},
		{user("old-user"), authn.User{Name: "bob", Groups: groups}, "list core pods", "cannot impersonate", false},
		{user("old-user"), authn.User{Name: "bob", UID: "7"}, "list core pods", "cannot impersonate", false},
		{user("old-user"), authn.User{Name: "bob", Extra: scopes}, "list core pods", "cannot impersonate", false},
		{user("old-group"), authn.User{Name: "eve", Groups: groups}, "get - /x", "dev " + known, true},
		{user("old-group"), authn.User{Name: "eve", Groups: []string{"dev", "ops"}}, "list core pods", "cannot impersonate", false},
		{user("old-account"), authn.User{Name: "system:serviceaccount:red:builder"}, "get core pods", "system:serviceaccounts system:serviceaccounts:red " + known, true},
		{user("old-account"), authn.User{Name: "bob"}, "get core pods", "cannot impersonate", false},
		{user("old-user"), authn.User{Name: "system:serviceaccount:red:builder"}, "list core pods", "cannot impersonate-on:serviceaccount:list", false},
		{user("old-all"), authn.User{Name: "bob", UID: "7", Groups: []string{authn.MastersGroup}, Extra: scopes}, "list core pods", "system:masters " + known, true},
		{user("old-all"), authn.User{Name: "system:serviceaccount:red:builder", Groups: groups}, "list core pods", "dev " + known, true},
		{user("old-all"), authn.User{Name: authn.AnonymousUser}, "list core pods", authn.UnauthenticatedGroup, true},
		{user("old-all"), authn.User{Name: "system:node:n1"}, "list core pods", known, true},
		{user("old-all"), authn.User{Name: "bob", Extra: map[string][]string{"other": {"a"}}}, "list core pods", "cannot impersonate", false},
		{user("on-user"), authn.User{Name: "bob", UID: "7", Groups: groups, Extra: scopes}, "list core pods", "dev " + known, true},
		{user("on-user"), authn.User{Name: "bob"}, "get core pods", "cannot impersonate-on:user-info:get", false},
		{user("on-user"), authn.User{Name: "bob", Groups: []string{authn.MastersGroup}}, "list core pods", "impersonating the system:masters group is not allowed", false},
		{user("on-user"), authn.User{Name: "bob", Groups: []string{""}}, "list core pods", "empty string group", false},
		{user("on-user"), authn.User{Name: "bob", Extra: map[string][]string{"example.org/Scopes": {"a"}}}, "list core pods", "not allowed", false},
		{user("on-user"), authn.User{Name: "bob", Extra: map[string][]string{"": {"a"}}}, "list core pods", "empty string key", false},
		{user("on-user"), authn.User{Name: "bob", Extra: map[string][]string{"example.org/scopes": {""}}}, "list core pods", "empty string value", false},
		{user("on-user"), authn.User{Name: "system:serviceaccount:red:builder"}, "list core pods", "cannot impersonate", false},
		{user("on-account"), authn.User{Name: "system:serviceaccount:red:builder"}, "watch core pods", "cannot impersonate-on:serviceaccount:watch", false},
		{user("on-node"), authn.User{Name: "system:node:n1"}, "list core pods", authn.NodesGroup + " " + known, true},
		{user("on-node"), authn.User{Name: "system:node:n2"}, "list core pods", `nodes.authentication.k8s.io "n2" is forbidden`, false},
		{agent, authn.User{Name: "system:node:n1"}, "list core pods", authn.NodesGroup + " " + known, true},
		{agent, authn.User{Name: "system:node:n2"}, "list core pods", "cannot impersonate-on:arbitrary-node:list", false},
		{user("many"), authn.User{Name: "bob", Groups: []string{"a", "b", "c", "d"}, Extra: map[string][]string{"example.org/a": {"1", "2"}, "example.org/b": {"3", "4"}}}, "list core pods", "a b c d " + known, true},
		{user("many"), authn.User{Name: "bob", Groups: []string{"a", "b", "c"}}, "list core pods", "cannot impersonate:user-info", false},
		{user("none"), authn.User{Name: "bob"}, "list core pods", "cannot impersonate", false},
		{user("m", authn.MastersGroup), authn.User{Name: "bob"}, "list core pods", known, true},
	} {
		wanted := test.wanted
		got, err := w.Impersonate(ask(test.requester, test.request), &wanted)
		switch {
		case (err == nil) != test.allowed:
			t.Errorf("%s as %+v: %+v, %v", test.requester.Name, test.wanted, got, err)
		case err != nil:
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s as %+v: %q is missing in %q", test.requester.Name, test.wanted, test.want, err)
			}
		case strings.Join(got.Groups, " ") != test.want || got.Name != wanted.Name || got.UID != wanted.UID || !reflect.DeepEqual(got.Extra, wanted.Extra):
			t.Errorf("%s as %+v: %+v", test.requester.Name, test.wanted, got)
		}
		if !reflect.DeepEqual(wanted, test.wanted) {
			t.Errorf("%+v was changed to %+v", test.wanted, wanted)
		}
	}
}
