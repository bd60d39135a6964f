package rbac

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/cadastre/cadastre/internal/auth/authn"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// model is a reference implementation of the index, which scans all roles and bindings for each request.
type model struct {
	roles    map[watchcache.Key]rbacv1.ClusterRole
	bindings map[watchcache.Key]rbacv1.RoleBinding
}

func (m *model) allowed(a *Attributes) bool {
	for _, rule := range m.rules(a.User, a.Namespace) {
		if allows(&rule, a) {
			return true
		}
	}
	return false
}

func (m *model) rules(user user.Info, namespace string) (rules []rbacv1.PolicyRule) {
	for key, b := range m.bindings {
		if key.Namespace != "" && key.Namespace != namespace || !slices.ContainsFunc(b.Subjects, func(s rbacv1.Subject) bool { return isSubject(user, s, key.Namespace) }) {
			continue
		}
		to := watchcache.Key{Kind: ClusterRoles, Name: b.RoleRef.Name}
		if b.RoleRef.Kind == roleKind {
			to = watchcache.Key{Kind: Roles, Namespace: key.Namespace, Name: b.RoleRef.Name}
		}
		rules = append(rules, m.gathered(to, map[watchcache.Key]bool{})...)
	}
	return rules
}

func (m *model) gathered(key watchcache.Key, done map[watchcache.Key]bool) (rules []rbacv1.PolicyRule) {
	role, ok := m.roles[key]
	if !ok || done[key] {
		return nil
	}
	done[key] = true
	if role.AggregationRule == nil {
		return role.Rules
	}
	for _, s := range role.AggregationRule.ClusterRoleSelectors {
		for other, r := range m.roles {
			if other.Kind == ClusterRoles && labels.SelectorFromSet(s.MatchLabels).Matches(labels.Set(r.Labels)) {
				rules = append(rules, m.gathered(other, done)...)
			}
		}
	}
	return rules
}

func isSubject(user user.Info, s rbacv1.Subject, namespace string) bool {
	switch s.Kind {
	case rbacv1.UserKind:
		return user.GetName() == s.Name
	case rbacv1.GroupKind:
		return slices.Contains(user.GetGroups(), s.Name)
	}
	if s.Namespace != "" {
		namespace = s.Namespace
	}
	return namespace != "" && user.GetName() == "system:serviceaccount:"+namespace+":"+s.Name
}

// change makes a random change to the model. It returns the key and the changed object as JSON; nil for a deletion.
func (m *model) change(t testing.TB, random *rand.Rand) (watchcache.Key, []byte) {
	name, namespace := fmt.Sprint("n", random.IntN(6)), []string{"", "red", "blue"}[random.IntN(3)]
	meta := metav1.ObjectMeta{Name: name, Namespace: namespace}
	if random.IntN(2) == 0 {
		return m.changeRole(t, random, meta)
	}
	key := watchcache.Key{Kind: ClusterRoleBindings, Name: name, Namespace: namespace}
	if namespace != "" {
		key.Kind = RoleBindings
	}
	if _, there := m.bindings[key]; there && random.IntN(3) == 0 {
		delete(m.bindings, key)
		return key, nil
	}
	b := rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: rbacv1.RoleRef{Kind: clusterRoleKind, Name: fmt.Sprint("n", random.IntN(6))}}
	if namespace != "" && random.IntN(2) == 0 {
		b.RoleRef.Kind = roleKind
	}
	for range random.IntN(4) {
		b.Subjects = append(b.Subjects, rbacv1.Subject{
			Kind: []string{"User", "Group", "ServiceAccount"}[random.IntN(3)], Name: []string{"a", "b"}[random.IntN(2)], Namespace: []string{"", "red"}[random.IntN(2)],
		})
	}
	m.bindings[key] = b
	return key, marshal(t, b)
}

func (m *model) changeRole(t testing.TB, random *rand.Rand, meta metav1.ObjectMeta) (watchcache.Key, []byte) {
	key := watchcache.Key{Kind: ClusterRoles, Name: meta.Name, Namespace: meta.Namespace}
	if meta.Namespace != "" {
		key.Kind = Roles
	}
	if _, there := m.roles[key]; there && random.IntN(3) == 0 {
		delete(m.roles, key)
		return key, nil
	}
	r := rbacv1.ClusterRole{ObjectMeta: meta, Rules: randomRules(random, 3)}
	if key.Kind == ClusterRoles {
		for _, label := range randomWords(random, 2, "x", "y", "z") {
			metav1.SetMetaDataLabel(&r.ObjectMeta, label, "")
		}
		if random.IntN(3) == 0 {
			r.AggregationRule = &rbacv1.AggregationRule{}
			for _, label := range randomWords(random, 2, "x", "y", "z") {
				r.AggregationRule.ClusterRoleSelectors = append(r.AggregationRule.ClusterRoleSelectors, metav1.LabelSelector{MatchLabels: map[string]string{label: ""}})
			}
		}
	}
	m.roles[key] = r
	return key, marshal(t, r)
}

// modelRequests returns requests of several users for the verbs and resources of the random rules of the model.
func modelRequests() (all []*Attributes) {
	for _, u := range []*authn.User{newUser("a"), newUser("b", "a"), newUser("c", "a", "b"), newUser("system:serviceaccount:red:a"), newUser("system:serviceaccount:blue:b")} {
		for _, text := range strings.Split("get core pods,get core pods red,list apps deployments/scale blue/a,create core pods/status red/b,get - /healthz/x,list core s blue/b", ",") {
			all = append(all, newAttributes(u, text))
		}
	}
	return all
}

func TestModel(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	w := newKit(t)
	m := &model{roles: map[watchcache.Key]rbacv1.ClusterRole{}, bindings: map[watchcache.Key]rbacv1.RoleBinding{}}
	count := map[bool]int{}
	for i := range 800 {
		key, value := m.change(t, random)
		w.write(key, value)
		if i%100 == 99 {
			w.reopen()
		}
		for _, q := range modelRequests() {
			want := m.allowed(q)
			if got, reason := w.Allowed(q); got != want {
				t.Fatalf("after %d changes, request %+v by %+v: allowed = %v (%s), want %v", i, q, q.User, got, reason, want)
			}
			count[want]++
			rules, _ := w.PolicyRules(q.User, q.Namespace)
			if lacks := missing(rules, m.rules(q.User, q.Namespace)); len(lacks) > 0 {
				t.Fatalf("after %d changes: PolicyRules(%s) lacks %v, want all rules of the model", i, q.User.GetName(), lacks)
			}
		}
	}
	if count[true] < 1000 || count[false] < 1000 {
		t.Errorf("number of random cases: allowed %d, want at least 1000; denied %d, want at least 1000", count[true], count[false])
	}
}

// TestConcurrency checks that requests are authorized without data races while roles change, and that a user whose bindings
// do not change is always allowed.
func TestConcurrency(t *testing.T) {
	w := newKit(t)
	w.role("", "keeps", "get core pods")
	w.bind("", "keeps", "keeps", "user:keeper")
	stop := make(chan struct{})
	var asking, writing sync.WaitGroup
	for range 4 {
		asking.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(200 * time.Microsecond):
				}
				for _, q := range modelRequests() {
					w.Allowed(q)
				}
				if !w.may(newUser("keeper"), "get core pods") {
					t.Error("a user whose bindings do not change was denied, want it to be allowed")
					return
				}
				if _, err := w.OutdatedRoles(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range 2 {
		writing.Go(func() {
			random := rand.New(rand.NewPCG(7, uint64(i)))
			m := &model{roles: map[watchcache.Key]rbacv1.ClusterRole{}, bindings: map[watchcache.Key]rbacv1.RoleBinding{}}
			for range 100 {
				key, value := m.change(t, random)
				change := storage.Write{Key: key.String(), Value: canonical(t, value)}
				if o, err := w.cache.Get(t.Context(), key, watchcache.Latest); err == nil {
					change.Expected = o.Revision()
				} else if value == nil {
					continue
				}
				if _, revision, err := w.cache.Commit(t.Context(), change); err == nil {
					w.sync(key.Kind, revision)
				}
			}
		})
	}
	writing.Wait()
	close(stop)
	asking.Wait()
}
