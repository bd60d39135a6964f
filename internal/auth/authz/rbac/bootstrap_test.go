package rbac

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/cadastre/cadastre/internal/auth/authn"
	"github.com/cadastre/cadastre/internal/lib/testwait"
	"github.com/cadastre/cadastre/internal/watchcache"
)

func TestBootstrapRoles(t *testing.T) {
	w := newBootstrappedKit(t)
	w.bind("red", "admins", "admin", "user:adam")
	w.bind("red", "editors", "edit", "user:eve")
	w.bind("red", "viewers", "view", "user:vera")
	w.bind("", "roots", "cluster-admin", "user:root")
	adam, eve, vera := newUser("adam"), newUser("eve"), newUser("vera")
	for _, u := range []*authn.User{adam, eve, vera} {
		w.expect(u, true, "get core pods red/x", "list apps deployments red", "get core namespaces red/red", "get apps deployments/scale red/x",
			"create authorization.k8s.io selfsubjectaccessreviews", "create authentication.k8s.io selfsubjectreviews", "get - /apis/apps/v1", "get - /openapi/v3", "get - /version")
		w.expect(u, false, "get core pods blue/x", "list core pods", "create core namespaces", "get core nodes /x", "get - /metrics", "create authorization.k8s.io subjectaccessreviews")
	}
	for _, u := range []*authn.User{adam, eve} {
		w.expect(u, true, "patch apps deployments red/x", "get core secrets red/x", "impersonate core serviceaccounts red/x", "create core pods/eviction red/x")
	}
	w.expect(vera, false, "patch apps deployments red/x", "get core secrets red/x", "create core pods/exec red/x")
	w.expect(adam, true, "create rbac.authorization.k8s.io rolebindings red", "create authorization.k8s.io localsubjectaccessreviews red")
	w.expect(eve, false, "create rbac.authorization.k8s.io rolebindings red")
	w.expect(adam, false, "escalate rbac.authorization.k8s.io roles red/x", "update core resourcequotas red/x")
	w.expect(newUser("root"), true, "delete core nodes /x", "get - /metrics", "escalate rbac.authorization.k8s.io clusterroles")
	w.expect(newUser("prometheus", "system:monitoring"), true, "get - /metrics", "get - /readyz/ping")
	nobody := authn.WithImpliedGroup(&authn.User{Name: authn.AnonymousUser})
	w.expect(nobody, true, "get - /healthz", "get - /livez", "get - /readyz", "get - /version", "get - /version/")
	w.expect(nobody, false, "get - /api", "get - /apis", "get - /openapi/v2", "get - /metrics", "get - /readyz/ping", "post - /healthz", "create authorization.k8s.io selfsubjectaccessreviews")
}

func TestBootstrapText(t *testing.T) {
	for text, want := range map[string]string{
		"role a odd\n":       "bootstrap.txt:1: role a: expected aggregates",
		"\n    get core x\n": "bootstrap.txt:2: expected a role",
		"role a\n    get\n":  "bootstrap.txt:2",
		"binding a\n":        "bootstrap.txt:1",
		"odd a b\n":          "bootstrap.txt:1",
	} {
		if _, err := parseBootstrap(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("parseBootstrap(%q) = %v, want an error that starts with %q", text, err, want)
		}
	}
}

func TestReconcileIsIdempotent(t *testing.T) {
	w := newBootstrappedKit(t)
	changes, err := Reconcile(w.existing)
	if err != nil || len(changes) > 0 {
		t.Errorf("Reconcile() of reconciled roles = %v, %v, want no changes", changes, err)
	}
}

func TestReconcile(t *testing.T) {
	meta := `"metadata":{"name":"NAME","labels":{"mine":"x","kubernetes.io/bootstrapping":"other"},"annotations":{"rbac.authorization.kubernetes.io/autoupdate":"UPDATE"}}`
	object := func(name, update, rest string) string {
		return "{" + strings.NewReplacer("NAME", name, "UPDATE", update).Replace(meta) + "," + rest + "}"
	}
	basicRules := `"rules":[{"verbs":["create"],"apiGroups":["authorization.k8s.io"],"resources":["*"]},{"verbs":["get"],"nonResourceURLs":["/mine"]}]`
	for _, test := range []struct {
		name, kind, object, there string
		operation                 Operation
		want                      []string
	}{
		{"missing rules are added, others kept", ClusterRoles, "system:basic-user", object("system:basic-user", "true", basicRules), Update,
			[]string{`"/mine"`, `selfsubjectreviews`, `"mine":"x"`, `"kubernetes.io/bootstrapping":"other"`}},
		{"protected role", ClusterRoles, "system:basic-user", object("system:basic-user", "false", basicRules), "", nil},
		{"no labels", ClusterRoles, "cluster-admin", `{"metadata":{"name":"cluster-admin"},"rules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]},{"verbs":["*"],"nonResourceURLs":["*"]}]}`, Update,
			[]string{`"kubernetes.io/bootstrapping":"rbac-defaults"`, `"rbac.authorization.kubernetes.io/autoupdate":"true"`}},
		{"other selectors", ClusterRoles, "view", object("view", "true", `"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"mine":"x"}}]}`), Update,
			[]string{`{"matchLabels":{"mine":"x"}}`, `aggregate-to-view`, `aggregate-to-edit`}},
		{"aggregationRule of a plain role", ClusterRoles, "system:discovery", object("system:discovery", "true", `"aggregationRule":{"clusterRoleSelectors":[{}]},"rules":[{"verbs":["*"],"nonResourceURLs":["*"]}]`), Update, nil},
		{"missing subjects are added, others kept", ClusterRoleBindings, "cluster-admin",
			object("cluster-admin", "true", `"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"cluster-admin"},"subjects":[{"kind":"User","name":"me"}]`), Update, []string{`"me"`, `"system:masters"`}},
		{"protected binding", ClusterRoleBindings, "cluster-admin", object("cluster-admin", "false", `"roleRef":{}`), "", nil},
		{"another role", ClusterRoleBindings, "cluster-admin",
			object("cluster-admin", "true", `"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"}`), Recreate, []string{`"name":"cluster-admin"`, `"system:masters"`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			changes, err := Reconcile(func(kind, name string) ([]byte, error) {
				if kind == test.kind && name == test.object {
					return []byte(test.there), nil
				}
				return nil, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(changes, func(c Change) bool { return c.Kind == test.kind && c.Name == test.object })
			if (i < 0) != (test.operation == "") {
				t.Fatalf("Reconcile() = %v, want operation %q for %s", changes, test.operation, test.object)
			}
			if i < 0 {
				return
			}
			if changes[i].Operation != test.operation {
				t.Errorf("operation = %s, want %s", changes[i].Operation, test.operation)
			}
			for _, want := range test.want {
				if !strings.Contains(string(changes[i].Document), want) {
					t.Errorf("reconciled object = %s, want it to contain %s", changes[i].Document, want)
				}
			}
			if strings.Contains(string(changes[i].Document), `null`) || test.want == nil && strings.Contains(string(changes[i].Document), "aggregationRule") {
				t.Errorf("reconciled object: received %s, want no nulls and no unwanted aggregationRule", changes[i].Document)
			}
		})
	}
}

func TestReconcileFails(t *testing.T) {
	broken := errors.New("broken")
	if _, err := Reconcile(func(string, string) ([]byte, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("Reconcile() with a failing read = %v, want %v", err, broken)
	}
	_, err := Reconcile(func(kind, _ string) ([]byte, error) {
		if kind == ClusterRoleBindings {
			return []byte(`{"subjects":7}`), nil
		}
		return nil, nil
	})
	if err == nil || !strings.Contains(err.Error(), "clusterrolebindings/cluster-admin") {
		t.Errorf("Reconcile() of an undecodable binding = %v, want an error that names it", err)
	}
}

// storedRules returns the rules of a stored ClusterRole.
func storedRules(t *testing.T, w *kit, name string) []rbacv1.PolicyRule {
	t.Helper()
	text, err := w.existing(ClusterRoles, name)
	if err != nil {
		t.Fatal(err)
	}
	var role rbacv1.ClusterRole
	if err := decode(text, &role); err != nil {
		t.Fatal(err)
	}
	return role.Rules
}

// TestAggregate checks that the rules of aggregated ClusterRoles are applied and follow changes, and that a failed apply is
// retried.
func TestAggregate(t *testing.T) {
	w := newBootstrappedKit(t)
	var mu sync.Mutex
	var applied []string
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		w.Aggregate(ctx, func(ctx context.Context, g AggregatedRole) error {
			mu.Lock()
			defer mu.Unlock()
			applied = append(applied, g.Name)
			if len(applied) == 1 {
				return errors.New("not now")
			}
			var o, c map[string]any
			text, _ := w.existing(ClusterRoles, g.Name)
			if err := errors.Join(decode(text, &o), decode(g.Configuration, &c)); err != nil {
				return err
			}
			o["rules"] = c["rules"]
			w.write(watchcache.Key{Kind: ClusterRoles, Name: g.Name}, marshal(t, o))
			return nil
		})
	})
	settled := func() bool { found, err := w.OutdatedRoles(); return err == nil && len(found) == 0 }
	await(t, settled)
	view, edit, admin := storedRules(t, w, "view"), storedRules(t, w, "edit"), storedRules(t, w, "admin")
	if want := bootstrap().roles[6].Rules; !equality.Semantic.DeepEqual(view, want) {
		t.Errorf("rules of view = %v, want %v", view, want)
	}
	if len(edit) != len(view)+len(bootstrap().roles[5].Rules) || len(admin) != len(edit)+len(bootstrap().roles[4].Rules) {
		t.Errorf("received %d rules of view, %d of edit, %d of admin; want each to include those of the role before it", len(view), len(edit), len(admin))
	}
	// The rules of a ClusterRole that is aggregated to view are also aggregated to edit and admin.
	w.write(watchcache.Key{Kind: ClusterRoles, Name: "widgets"}, []byte(`{"metadata":{"labels":{"rbac.authorization.k8s.io/aggregate-to-view":"true"},"name":"widgets"},"rules":[{"apiGroups":["example.org"],"resources":["widgets"],"verbs":["get"]}]}`))
	w.bind("", "adam", "admin", "user:adam")
	w.expect(newUser("adam"), true, "get example.org widgets") // even before the aggregated rules are stored
	await(t, func() bool { return settled() && len(storedRules(t, w, "admin")) == len(admin)+1 })
	w.write(watchcache.Key{Kind: ClusterRoles, Name: "widgets"}, nil)
	w.expect(newUser("adam"), false, "get example.org widgets")
	await(t, func() bool { return settled() && len(storedRules(t, w, "admin")) == len(admin) })
	cancel()
	running.Wait()
}

func await(t *testing.T, done func() bool) {
	t.Helper()
	testwait.For(t, "the roles to be reconciled", done)
}
