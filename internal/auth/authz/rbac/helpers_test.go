package rbac

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cadastre/cadastre/internal/auth/authn"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
	"github.com/cadastre/cadastre/internal/watchcache/watchcachetest"
)

// discardLog is a logger that discards all messages, for tests that cause errors.
var discardLog = slog.New(slog.NewTextHandler(io.Discard, nil))

// kit is a test with a store, its watch cache, and the Authorizer under test.
type kit struct {
	t     testing.TB
	store storage.Store
	cache *watchcache.Cache
	*Authorizer
}

func newKit(t testing.TB) *kit {
	t.Helper()
	s := watchcachetest.OpenStore(t)
	c := watchcachetest.OpenOn(t, s)
	w := &kit{t: t, store: s, cache: c}
	w.reopen()
	return w
}

// reopen closes the Authorizer and replaces it with a new Authorizer for the same watch cache.
func (w *kit) reopen() {
	w.t.Helper()
	if w.Authorizer != nil {
		w.Close()
	}
	a, err := New(w.t.Context(), w.cache, discardLog)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(a.Close)
	w.Authorizer = a
}

// newBootstrappedKit returns a kit whose store contains the default roles and bindings.
func newBootstrappedKit(t testing.TB) *kit {
	t.Helper()
	w := newKit(t)
	changes, err := Reconcile(w.existing)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		w.write(watchcache.Key{Kind: c.Kind, Name: c.Name}, c.Document)
	}
	return w
}

func (w *kit) existing(kind, name string) ([]byte, error) {
	o, err := w.cache.Get(w.t.Context(), watchcache.Key{Kind: kind, Name: name}, watchcache.Latest)
	if err != nil {
		return nil, nil
	}
	return o.AppendJSON(nil), nil
}

// write stores an object, or deletes it if value is nil, and waits until the index includes the change.
func (w *kit) write(key watchcache.Key, value []byte) {
	w.t.Helper()
	change := storage.Write{Key: key.String(), Value: canonical(w.t, value)}
	if o, err := w.cache.Get(w.t.Context(), key, watchcache.Latest); err == nil {
		change.Expected = o.Revision()
	} else if value == nil {
		return
	}
	_, revision, err := w.cache.Commit(w.t.Context(), change)
	if err != nil {
		w.t.Fatal(err)
	}
	w.sync(key.Kind, revision)
}

func (w *kit) sync(kind string, revision storage.Revision) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 10*time.Second)
	defer cancel()
	if err := w.Sync(ctx, kind, revision); err != nil {
		w.t.Fatal(err)
	}
}

func canonical(t testing.TB, value []byte) []byte {
	t.Helper()
	if value == nil {
		return nil
	}
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// role stores a Role, or a ClusterRole if namespace is "". Rules have the syntax of bootstrap.txt, optionally followed by
// names=NAME,….
func (w *kit) role(namespace, name string, rules ...string) {
	w.t.Helper()
	kind := ClusterRoles
	if namespace != "" {
		kind = Roles
	}
	w.write(watchcache.Key{Kind: kind, Namespace: namespace, Name: name}, newRole(w.t, namespace, name, rules...))
}

func newRole(t testing.TB, namespace, name string, rules ...string) []byte {
	t.Helper()
	return marshal(t, rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Rules: parseRules(rules...)})
}

func parseRules(texts ...string) (rules []rbacv1.PolicyRule) {
	for _, text := range texts {
		text, names, _ := strings.Cut(text, " names=")
		rule := parseRule(strings.Fields(text))
		if names != "" {
			rule.ResourceNames = strings.Split(names, ",")
		}
		rules = append(rules, rule)
	}
	return rules
}

// bind stores a RoleBinding, or a ClusterRoleBinding if namespace is "". A subject is user:NAME, group:NAME or
// account:NAMESPACE/NAME; see newBinding for role.
func (w *kit) bind(namespace, name, role string, subjects ...string) {
	w.t.Helper()
	kind := ClusterRoleBindings
	if namespace != "" {
		kind = RoleBindings
	}
	w.write(watchcache.Key{Kind: kind, Namespace: namespace, Name: name}, newBinding(w.t, namespace, name, role, subjects...))
}

// newBinding returns a binding as JSON. The role is the name of a ClusterRole or, if it begins with a dot, of a Role in the
// namespace.
func newBinding(t testing.TB, namespace, name, role string, subjects ...string) []byte {
	t.Helper()
	b := rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: clusterRoleKind, Name: role},
	}
	if local, ok := strings.CutPrefix(role, "."); ok {
		b.RoleRef.Kind, b.RoleRef.Name = roleKind, local
	}
	for _, s := range subjects {
		kind, name, _ := strings.Cut(s, ":")
		subject := rbacv1.Subject{Kind: map[string]string{"user": "User", "group": "Group", "account": "ServiceAccount"}[kind], Name: name}
		if kind == "account" {
			subject.Namespace, subject.Name, _ = strings.Cut(name, "/")
		}
		b.Subjects = append(b.Subjects, subject)
	}
	return marshal(t, b)
}

// newAttributes returns the Attributes of a request in the form VERB GROUP RESOURCE[/SUBRESOURCE] [NAMESPACE[/NAME]], or VERB -
// PATH.
func newAttributes(user *authn.User, text string) *Attributes {
	words := strings.Fields(text)
	a := &Attributes{User: user, Verb: words[0]}
	if words[1] == "-" {
		a.NonResource, a.Path = true, words[2]
		return a
	}
	if words[1] != "core" {
		a.Group = words[1]
	}
	a.Resource, a.Subresource, _ = strings.Cut(words[2], "/")
	if len(words) > 3 {
		a.Namespace, a.Name, _ = strings.Cut(words[3], "/")
	}
	return a
}

// newUser returns a user that is also in the group system:authenticated.
func newUser(name string, groups ...string) *authn.User {
	return authn.WithImpliedGroup(&authn.User{Name: name, Groups: groups})
}

func (w *kit) may(u *authn.User, text string) bool {
	allowed, _ := w.Allowed(newAttributes(u, text))
	return allowed
}

func (w *kit) expect(u *authn.User, want bool, texts ...string) {
	w.t.Helper()
	for _, text := range texts {
		if got := w.may(u, text); got != want {
			w.t.Errorf("%s may %s = %v, want %v", u.Name, text, got, want)
		}
	}
}
