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
	return openStore(t, watchcachetest.OpenStore(t), options)
}

// openStore is open with a given store.
func openStore(t testing.TB, s storage.Store, options Options) *Registry {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	c := watchcachetest.OpenOn(t, s)
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

// request returns a request of the user tester. The registry itself does not check permissions.
func request(endpoint *Endpoint, namespace, name string, body Body) *Request {
	return &Request{
		Endpoint: endpoint, Namespace: namespace, Name: name, Body: body,
		User: &authn.User{Name: "tester"}, Manager: "tester",
		AuthorizeCreate: func(context.Context) error { return nil },
		Warn:            func(string) {},
	}
}

// TestConcurrentWrites checks that concurrent applies and patches of different fields of one object are each committed once, and
// that each field is owned by the field manager that wrote it and by no other.
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
					t.Errorf("writer %d, round %d: got error %v, want none", writer, round, err)
				} else if result.Revision == 0 || !strings.Contains(result.Object.Text(), strings.Trim(field, "{}")) {
					t.Errorf("writer %d, round %d: got revision %d of %s, want a new revision with %s", writer, round, result.Revision, result.Object.Text(), field)
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
			t.Errorf("data of writer %d: got %q, want %d", writer, got, rounds-1)
		}
	}
	if now, err := o.Cache.Revision(t.Context()); err != nil || now != before+writers*rounds || live.Revision() != now {
		t.Errorf("after %d writes: got store revision %d, %v, and object revision %d, want both %d", writers*rounds, now, err, live.Revision(), before+writers*rounds)
	}
	owned := map[string]string{}
	for _, e := range object.Entries {
		owned[e.Manager+" "+string(e.Operation)] = e.FieldsV1
	}
	for writer := range writers {
		name := fmt.Sprintf("writer-%d Apply", writer)
		if writer%2 == 1 {
			name = fmt.Sprintf("writer-%d Update", writer) // the patches changed the field, so the entry of the first apply no longer owns it
		}
		if got, want := owned[name], fmt.Sprintf(`{"f:data":{"f:w%d":{}}}`, writer); got != want {
			t.Errorf("%s owns %s, want %s", name, got, want)
		}
	}
	if len(owned) != writers || len(object.Entries) != writers {
		t.Errorf("managed fields entries: got %v, want one for each of %d writers", owned, writers)
	}
}

// TestNoOpWritesNothing checks that an apply that changes nothing does not create a revision, even if the configuration omits a
// field that defaulting sets again.
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
		t.Errorf("second Apply() of the same configuration: got revision %d, want %d", again.Object.Revision(), first.Object.Revision())
	}
	without := strings.Replace(config, `,"protocol":"TCP"`, "", 1)
	second := write(without) // no field manager owns protocol any longer, and defaulting sets it again
	if second.Object.Revision() == first.Object.Revision() || !strings.Contains(second.Object.Text(), `"protocol":"TCP"`) {
		t.Errorf("Apply() without the field = %s, want a new revision with the default", second.Object.Text())
	}
	if again := write(without); again.Object.Revision() != second.Object.Revision() {
		t.Errorf("second Apply() without the field: got revision %d, want %d", again.Object.Revision(), second.Object.Revision())
	}
}

// forbidder is a validating admission plugin for ConfigMaps that records its calls and rejects objects with data.forbidden.
type forbidder struct {
	admission.ValidatingOnly
	seen []string
}

func (*forbidder) Name() string { return "Gate" }

func (*forbidder) Handles(operation admission.Operation, r admission.Resource) admission.Phase {
	if r.Is("", "configmaps") && operation != admission.Delete {
		return admission.Validating
	}
	return 0
}

func (g *forbidder) Validate(_ context.Context, a *admission.Attributes) error {
	g.seen = append(g.seen, fmt.Sprint(a.User.GetName(), " ", a.Operation, " ", a.Resource.Resource, " ", a.Object.Lookup("metadata", "uid").Text() != "", " ", !a.OldObject.IsAbsent()))
	if a.Object.Lookup("data", "forbidden").Text() != "" {
		return a.Forbidden(errors.New("no"))
	}
	return nil
}

// TestValidatingAdmission checks that a validating plugin receives the object to be stored, and can reject it, and that it is not
// called for a no-op.
func TestValidatingAdmission(t *testing.T) {
	g := &forbidder{}
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
		t.Errorf("calls of the plugin: got %s, want a CREATE and a rejected UPDATE", got)
	}
}

// TestStoreError checks that a commit with an unknown outcome results in a 504 whose message states that the outcome is
// unknown, even if a deadline has caused the error.
func TestStoreError(t *testing.T) {
	err := StoreError(fmt.Errorf("commit: %w", &storage.UnknownError{Err: context.DeadlineExceeded}))
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) || !apierrors.IsTimeout(err) || !strings.Contains(status.Status().Message, "the outcome of the write is unknown") {
		t.Errorf("StoreError() = %v, want a 504 about an unknown outcome", err)
	}
}
