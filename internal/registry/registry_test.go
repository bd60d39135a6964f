package registry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/auth/authn"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
	"github.com/cadastre/cadastre/internal/watchcache/watchcachetest"
)

// open returns a registry over a store in memory, with the namespace default.
func open(t testing.TB, options Options) *Registry {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	c := watchcachetest.Open(t)
	register, err := api.NewRegister(api.Builtin()...)
	if err != nil {
		t.Fatal(err)
	}
	options.Cache, options.Kinds, options.Log, options.Unset = c, register, log, true
	o := New(options)
	if _, err := o.Create(t.Context(), o.request(t, "namespaces", "", "", `{"metadata":{"name":"default"}}`)); err != nil {
		t.Fatal(err)
	}
	return o
}

// request returns a request to a resource of the core group.
func (o *Registry) request(t testing.TB, resource, namespace, name, body string) *Request {
	t.Helper()
	return request(o.endpoint(t, "", resource), namespace, name, Body{Text: body})
}

// endpoint returns the endpoint of a resource at v1.
func (o *Registry) endpoint(t testing.TB, group, resource string) *Endpoint {
	t.Helper()
	kind, ok := o.Kinds.Resource(group, "v1", resource)
	if !ok {
		t.Fatalf("resource %s not found", resource)
	}
	endpoint, err := o.Endpoint(kind, "v1", "")
	if err != nil {
		t.Fatal(err)
	}
	return endpoint
}

// request returns a request of a user with all permissions.
func request(endpoint *Endpoint, namespace, name string, body Body) *Request {
	return &Request{
		Endpoint: endpoint, Namespace: namespace, Name: name, Body: body,
		User: &authn.User{Name: "tester"}, Manager: "tester",
		AuthorizeCreate: func(context.Context) error { return nil },
		Warn:            func(string) {},
	}
}

// TestConcurrentWrites: concurrent applies and patches of one object, each of another field, are all committed once, and each
// field has exactly its writer as owner.
func TestConcurrentWrites(t *testing.T) {
	o := open(t, Options{})
	const writers, rounds = 8, 20
	before, err := o.Cache.Revision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for writer := range writers {
		group.Go(func() {
			for round := range rounds {
				field := fmt.Sprintf(`{"w%d":"%d"}`, writer, round)
				r := o.request(t, "configmaps", "default", "shared", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"shared"},"data":`+field+`}`)
				r.Manager = fmt.Sprint("writer-", writer)
				var (
					result Result
					err    error
				)
				if writer%2 == 0 || round == 0 {
					result, err = o.Apply(t.Context(), r)
				} else {
					r.Body = Body{Text: `{"data":` + field + `}`}
					result, err = o.Patch(t.Context(), r, MergePatch)
				}
				if err != nil {
					t.Errorf("writer %d, round %d: %v", writer, round, err)
				} else if result.Revision == 0 || !strings.Contains(result.Object.Text(), strings.Trim(field, "{}")) {
					t.Errorf("writer %d, round %d: revision %d, %s", writer, round, result.Revision, result.Object.Text())
				}
			}
		})
	}
	group.Wait()
	live, err := o.Cache.Get(t.Context(), watchcache.Key{Kind: "core/configmaps", Namespace: "default", Name: "shared"}, watchcache.Latest)
	if err != nil {
		t.Fatal(err)
	}
	object, err := live.Parsed()
	if err != nil {
		t.Fatal(err)
	}
	for writer := range writers {
		if got := object.Document.Lookup("data", fmt.Sprint("w", writer)).Text(); got != fmt.Sprint(rounds-1) {
			t.Errorf("data of writer %d: want %d, received %q", writer, rounds-1, got)
		}
	}
	if now, err := o.Cache.Revision(t.Context()); err != nil || now != before+writers*rounds || live.Revision() != now {
		t.Errorf("after %d writes: Revision() = %d, %v, the object has revision %d, before %d", writers*rounds, now, err, live.Revision(), before)
	}
	owned := map[string]string{}
	for _, e := range object.Entries {
		owned[e.Manager+" "+string(e.Operation)] = e.FieldsV1
	}
	for writer := range writers {
		name := fmt.Sprintf("writer-%d Apply", writer)
		if writer%2 == 1 {
			name = fmt.Sprintf("writer-%d Update", writer) // the patch took over the field of the first apply
		}
		if got, want := owned[name], fmt.Sprintf(`{"f:data":{"f:w%d":{}}}`, writer); got != want {
			t.Errorf("%s owns %s, want %s", name, got, want)
		}
	}
	if len(owned) != writers || len(object.Entries) != writers {
		t.Errorf("owners %v, want one for each of %d writers", owned, writers)
	}
}

// TestNoOpWritesNothing: an apply that changes nothing writes nothing, also if defaulting restores a field that it removed.
func TestNoOpWritesNothing(t *testing.T) {
	o := open(t, Options{})
	config := `{"apiVersion":"v1","kind":"Service","metadata":{"name":"s"},"spec":{"clusterIP":"None","ports":[{"port":80,"protocol":"TCP"}]}}`
	write := func(body string) Result {
		t.Helper()
		result, err := o.Apply(t.Context(), o.request(t, "services", "default", "s", body))
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	first := write(config)
	if again := write(config); again.Object.Revision() != first.Object.Revision() || again.Created {
		t.Errorf("Apply() again: revision %d, want %d", again.Object.Revision(), first.Object.Revision())
	}
	without := strings.Replace(config, `,"protocol":"TCP"`, "", 1)
	second := write(without) // the field has no owner any more, and its default is the same value
	if second.Object.Revision() == first.Object.Revision() || !strings.Contains(second.Object.Text(), `"protocol":"TCP"`) {
		t.Errorf("Apply() without the field = %s, want a new revision with the default", second.Object.Text())
	}
	if again := write(without); again.Object.Revision() != second.Object.Revision() {
		t.Errorf("Apply() again: revision %d, want %d", again.Object.Revision(), second.Object.Revision())
	}
}

// gate is a validating plugin of ConfigMaps that records its calls.
type gate struct {
	admission.ValidatingOnly
	seen []string
}

func (*gate) Name() string { return "Gate" }

func (*gate) Handles(operation admission.Operation, r admission.Resource) admission.Phase {
	if r.Is("", "configmaps") && operation != admission.Delete {
		return admission.Validating
	}
	return 0
}

func (g *gate) Validate(_ context.Context, a *admission.Attributes) error {
	g.seen = append(g.seen, fmt.Sprint(a.User.GetName(), " ", a.Operation, " ", a.Resource.Resource, " ", a.Object.Lookup("metadata", "uid").Text() != "", " ", !a.OldObject.IsAbsent()))
	if a.Object.Lookup("data", "forbidden").Text() != "" {
		return a.Forbidden(errors.New("no"))
	}
	return nil
}

// TestValidatingAdmission: a validating plugin sees the object that would be stored, and can reject it. No-ops are not
// validated again.
func TestValidatingAdmission(t *testing.T) {
	g := &gate{}
	o := open(t, Options{Admission: admission.NewChain(g)})
	if _, err := o.Create(t.Context(), o.request(t, "configmaps", "default", "", `{"metadata":{"name":"x"}}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Update(t.Context(), o.request(t, "configmaps", "default", "x", `{"metadata":{"name":"x"}}`)); err != nil {
		t.Fatal(err)
	}
	_, err := o.Update(t.Context(), o.request(t, "configmaps", "default", "x", `{"metadata":{"name":"x"},"data":{"forbidden":"1"}}`))
	if !apierrors.IsForbidden(err) || err.Error() != `configmaps "x" is forbidden: no` {
		t.Errorf("Update() = %v, want a 403", err)
	}
	if got := strings.Join(g.seen, "; "); got != "tester CREATE configmaps true false; tester UPDATE configmaps true true" {
		t.Errorf("the plugin has seen %s", got)
	}
}

// TestStoreError: a commit with an unknown outcome is a 504 that says so, whatever its cause.
func TestStoreError(t *testing.T) {
	err := StoreError(fmt.Errorf("commit: %w", &storage.UnknownError{Err: context.DeadlineExceeded}))
	if !apierrors.IsTimeout(err) || !strings.Contains(err.Error(), "the outcome of the write is unknown") {
		t.Errorf("StoreError() = %v", err)
	}
}
