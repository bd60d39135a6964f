package rbac

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/auth/authn"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

func TestSubjects(t *testing.T) {
	w := newKit(t)
	w.role("", "pods", "get core pods")
	w.bind("", "all", "pods", "user:alice", "group:dev")
	w.bind("red", "some", "pods", "user:bob", "account:/builder", "account:blue/tester", "group:ops")
	w.role("red", "secrets", "get core secrets names=a")
	w.bind("red", "local", ".secrets", "user:bob")
	everywhere, red, blue := "get core pods", "get core pods red/x", "get core pods blue/x"
	w.expect(newUser("alice"), true, everywhere, red, blue)
	w.expect(newUser("alice"), false, "list core pods", "get apps pods", "get core pods/log", "get - /healthz", "get core secrets red/a")
	w.expect(newUser("someone", "dev"), true, everywhere, red, blue)
	w.expect(newUser("bob"), true, red, "get core secrets red/a")
	w.expect(newUser("bob"), false, everywhere, blue, "get core secrets red/b", "get core secrets blue/a")
	w.expect(newUser("someone", "ops"), true, red)
	w.expect(newUser("someone", "ops"), false, blue)
	w.expect(newUser("ops"), false, red)                     // ops is a group in the binding, not a user
	w.expect(newUser("someone", "alice", "bob"), false, red) // alice and bob are users in the bindings, not groups
	w.expect(newUser("system:serviceaccount:red:builder"), true, red)
	w.expect(newUser("system:serviceaccount:blue:builder"), false, red)
	w.expect(newUser("system:serviceaccount:blue:tester"), true, red)
	w.expect(newUser("system:serviceaccount:blue:tester"), false, blue)
	w.expect(newUser("root", authn.MastersGroup), true, "delete core everything", "post - /anything")
}

func TestReasons(t *testing.T) {
	w := newKit(t)
	w.role("", "pods", "get core pods")
	w.bind("", "all", "pods", "group:dev")
	w.bind("red", "some", "pods", "account:/builder")
	w.bind("red", "lost", ".none", "user:bob")
	w.bind("red", "gone", "none", "user:bob", "group:dev")
	w.write(watchcache.Key{Kind: RoleBindings, Namespace: "red", Name: "odd"},
		[]byte(`{"metadata":{"name":"odd","namespace":"red"},"roleRef":{"kind":"Odd","name":"x"},"subjects":[{"kind":"User","name":"bob"},{"kind":"Odd","name":"bob"}]}`))
	for _, test := range []struct {
		user *authn.User
		text string
		want string
	}{
		{newUser("alice", "dev"), "get core pods", `RBAC: allowed by ClusterRoleBinding "all" of ClusterRole "pods" to Group "dev"`},
		{newUser("system:serviceaccount:red:builder"), "get core pods red/x", `RBAC: allowed by RoleBinding "some/red" of ClusterRole "pods" to ServiceAccount "builder/red"`},
		{newUser("eve"), "get core pods", ""},
		{newUser("carol", "dev"), "get core secrets red", `RBAC: clusterrole.rbac.authorization.k8s.io "none" not found`},
		{newUser("bob"), "get core pods red", `RBAC: [clusterrole.rbac.authorization.k8s.io "none" not found, role.rbac.authorization.k8s.io "none" not found, unsupported role reference kind: "Odd"]`},
		{newUser("root", authn.MastersGroup), "get core pods", ""},
	} {
		if _, reason := w.Allowed(newAttributes(test.user, test.text)); reason != test.want {
			t.Errorf("Allowed(%s, %s): reason = %q, want %q", test.user.Name, test.text, reason, test.want)
		}
	}
}

func TestForbidden(t *testing.T) {
	for text, want := range map[string]string{
		"patch apps deployments default/web": `deployments.apps "web" is forbidden: User "alice" cannot patch resource "deployments" in API group "apps" in the namespace "default"`,
		"list core nodes":                    `nodes is forbidden: User "alice" cannot list resource "nodes" in API group "" at the cluster scope`,
		"get core pods/log default/a":        `pods "a" is forbidden: User "alice" cannot get resource "pods/log" in API group "" in the namespace "default"`,
		"get - /metrics":                     `forbidden: User "alice" cannot get path "/metrics"`,
		"get - /<b>&":                        `forbidden: User "alice" cannot get path "/&lt;b&gt;&amp;"`,
	} {
		err := newAttributes(newUser("alice"), text).Forbidden("")
		if err.Error() != want || err.Status().Code != 403 || err.Status().Reason != "Forbidden" {
			t.Errorf("Forbidden() of %s = %v, want a 403: %s", text, err, want)
		}
		if err := newAttributes(newUser("alice"), text).Forbidden("RBAC: x"); err.Error() != want+": RBAC: x" {
			t.Errorf("Forbidden() of %s with a reason = %v, want %s: RBAC: x", text, err, want)
		}
	}
	if err := (&Attributes{Verb: "get", Resource: "pods"}).Forbidden(""); !strings.Contains(err.Error(), `User ""`) {
		t.Errorf("Forbidden() without a user = %v, want an empty user name", err)
	}
}

// TestChanges checks that a request after an acknowledged write of a role or binding is authorized by the new state.
func TestChanges(t *testing.T) {
	w := newKit(t)
	alice, read, list := newUser("alice"), "get core pods red/x", "list core pods red"
	w.bind("red", "b", "later", "user:alice")
	w.expect(alice, false, read)
	w.role("", "later", "get core pods") // a role may be created after a binding that refers to it
	w.expect(alice, true, read)
	w.role("", "later", "list core pods")
	w.expect(alice, false, read)
	w.expect(alice, true, list)
	w.bind("red", "b", "later", "user:bob")
	w.expect(alice, false, list)
	w.expect(newUser("bob"), true, list)
	w.write(watchcache.Key{Kind: ClusterRoles, Name: "later"}, nil)
	w.expect(newUser("bob"), false, list)
	w.role("", "later", "list core pods")
	w.expect(newUser("bob"), true, list)
	w.write(watchcache.Key{Kind: RoleBindings, Namespace: "red", Name: "b"}, nil)
	w.expect(newUser("bob"), false, list)
	w.write(watchcache.Key{Kind: ClusterRoles, Name: "later"}, nil)
	w.bind("red", "b", "never", "user:bob", "group:dev")
	w.write(watchcache.Key{Kind: RoleBindings, Namespace: "red", Name: "b"}, nil)
	if n := len(w.index.roles) + len(w.index.bindings) + len(w.index.users) + len(w.index.groups); n != 0 {
		t.Errorf("the index contains %d entries after all objects were deleted, want 0", n)
	}
}

func TestNewLoadsAll(t *testing.T) {
	w := newKit(t)
	for i := range 600 { // more than one batch of the watch cache
		w.bind("red", fmt.Sprint("b", i), "pods", fmt.Sprint("user:u", i))
	}
	w.role("", "pods", "get core pods")
	w.reopen()
	for i := range 600 {
		w.expect(newUser(fmt.Sprint("u", i)), true, "get core pods red/x")
	}
}

// TestUndecodableObjects checks that a role or binding that cannot be decoded grants nothing, and does not affect other
// roles and bindings.
func TestUndecodableObjects(t *testing.T) {
	w := newKit(t)
	w.role("", "pods", "get core pods")
	w.bind("", "good", "pods", "user:alice")
	w.write(watchcache.Key{Kind: ClusterRoles, Name: "pods"}, []byte(`{"metadata":{"name":"pods"},"rules":"no list"}`))
	w.expect(newUser("alice"), false, "get core pods")
	w.role("", "pods", "get core pods")
	w.expect(newUser("alice"), true, "get core pods")

	bad, revision := ClusterRoleBindings+"/bad", storage.Revision(0)
	w.commit(storage.Write{Key: bad, Value: []byte("rubbish")}, &revision)
	w.sync(ClusterRoleBindings, revision)
	w.expect(newUser("alice"), true, "get core pods") // the valid binding still allows the request
	w.write(watchcache.Key{Kind: ClusterRoleBindings, Name: "good"}, nil)
	w.bind("", "better", "pods", "user:bob")
	w.expect(newUser("bob"), false, "get core pods") // ClusterRoleBindings cannot be listed while one of them is unreadable
	w.commit(storage.Write{Key: bad, Expected: revision}, nil)
	await(t, func() bool { return w.may(newUser("bob"), "get core pods") })
	w.expect(newUser("alice"), false, "get core pods")
}

// TestUndecodableObjectsAtStart checks that New succeeds even if stored roles or bindings cannot be decoded.
func TestUndecodableObjectsAtStart(t *testing.T) {
	w := newKit(t)
	w.role("", "pods", "get core pods")
	w.bind("", "good", "pods", "user:alice")
	bad, revision := ClusterRoleBindings+"/bad", storage.Revision(0)
	w.commit(storage.Write{Key: bad, Value: []byte("rubbish")}, &revision)
	w.reopen()
	w.expect(newUser("alice"), false, "get core pods")
	w.expect(newUser("root", authn.MastersGroup), true, "delete rbac.authorization.k8s.io clusterrolebindings /bad")
	w.commit(storage.Write{Key: bad, Expected: revision}, nil)
	await(t, func() bool { return w.may(newUser("alice"), "get core pods") })
}

// commit writes directly to the store, because the watch cache rejects values that cannot be decoded. Unless revision is nil,
// it sets *revision to the revision of the commit.
func (w *kit) commit(change storage.Write, revision *storage.Revision) {
	w.t.Helper()
	at, err := w.store.Commit(w.t.Context(), change)
	if err != nil {
		w.t.Fatal(err)
	}
	if revision != nil {
		*revision = at
	}
}

func TestFieldNamesAreCaseSensitive(t *testing.T) {
	w := newKit(t)
	w.write(watchcache.Key{Kind: ClusterRoles, Name: "odd"}, []byte(`{"Rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}],"metadata":{"name":"odd"}}`))
	w.bind("", "odd", "odd", "user:alice")
	w.expect(newUser("alice"), false, "get core pods")
}

func TestSync(t *testing.T) {
	w := newKit(t)
	if err := w.Sync(t.Context(), "core/pods", 1<<40); err != nil {
		t.Errorf("Sync() of another resource = %v, want nil", err)
	}
	short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := w.Sync(short, Roles, 1<<40); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Sync() of a future revision = %v, want a deadline error", err)
	}
	w.Close()
	if err := w.Sync(t.Context(), Roles, 1<<40); !errors.Is(err, watchcache.ErrClosed) {
		t.Errorf("Sync() after Close = %v, want %v", err, watchcache.ErrClosed)
	}
}

func TestNewFails(t *testing.T) {
	w := newKit(t)
	w.cache.Close()
	if _, err := New(t.Context(), w.cache, discardLog); !errors.Is(err, watchcache.ErrClosed) {
		t.Errorf("New() with a closed cache = %v, want %v", err, watchcache.ErrClosed)
	}
}

func BenchmarkAllowed(b *testing.B) {
	w := newBootstrappedKit(b)
	for i := range 5000 {
		w.bind(fmt.Sprint("ns", i), "editors", "edit", fmt.Sprint("user:u", i), "group:editors")
	}
	for _, bench := range []struct {
		name string
		user *authn.User
		text string
		want bool
	}{
		{"masters", newUser("root", authn.MastersGroup), "patch apps deployments ns7/web", true},
		{"editor", newUser("u7", "a", "b"), "patch apps deployments ns7/web", true},
		{"editor, last rule", newUser("u7", "a", "b"), "get resource.k8s.io resourceclaimtemplates ns7/web", true},
		{"discovery", newUser("u7"), "get - /apis/apps/v1", true},
		{"denied", newUser("u7", "a", "b"), "patch apps deployments ns8/web", false},
	} {
		b.Run(bench.name, func(b *testing.B) {
			at := newAttributes(bench.user, bench.text)
			b.ReportAllocs()
			for b.Loop() {
				if allowed, _ := w.Allowed(at); allowed != bench.want {
					b.Fatalf("Allowed() = %v, want %v", allowed, bench.want)
				}
			}
		})
	}
}
