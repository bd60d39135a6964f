package flowcontrol

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	fcboot "k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/cadastre/cadastre/internal/lib/testwait"
	"github.com/cadastre/cadastre/internal/metrics"
)

// TestFairness checks that a user whose request arrives while another user has filled queues is served before the other user
// gets a second turn in each of its queues.
func TestFairness(t *testing.T) {
	const hand = 4
	f := newFixture(t, 1)
	f.useTenants(64, hand, 50)
	current := f.mustEnter(get("mallory"))
	f.clock.advance(time.Second)
	served := make(chan *entry, 41)
	follow := func(e *entry) *entry {
		go func() {
			if <-e.result == nil {
				served <- e
			}
		}()
		return e
	}
	for range 40 {
		follow(f.enqueue("tenants", get("mallory")))
	}
	f.clock.advance(time.Second)
	polite := follow(f.enqueue("tenants", get("alice")))
	for range hand + 1 {
		f.clock.advance(time.Second)
		current.ticket.Release()
		if current = <-served; current == polite {
			return
		}
	}
	t.Errorf("the polite user waits after %d requests of the other user, want it to be served", hand+1)
}

// TestQueueFull checks that a request is rejected if the seats are occupied and its queue is full, and that Retry-After increases.
func TestQueueFull(t *testing.T) {
	f := newFixture(t, 1)
	f.useTenants(1, 1, 2)
	f.mustEnter(get("a"))
	f.enqueue("tenants", get("a"))
	f.enqueue("tenants", get("a"))
	last := 0
	for range 5 {
		for range 100 {
			rejected := (*Rejected)(nil)
			if err := f.Enter(t.Context(), new(Ticket), get("a")); !errors.As(err, &rejected) {
				t.Fatalf("Enter() = %v, want a rejection", err)
			}
			last = rejected.RetryAfter
		}
		f.clock.advance(time.Second)
	}
	if last < 2 {
		t.Errorf("RetryAfter after 5 s of rejections = %d, want more than 1", last)
	}
}

// TestRejectLevel checks that a level without queues rejects requests beyond its limit.
func TestRejectLevel(t *testing.T) {
	f := newFixture(t, 3)
	f.useTenants(0, 0, 0)
	var running []*entry
	for range f.state("tenants").limit {
		running = append(running, f.mustEnter(get("a")))
	}
	if err := f.Enter(t.Context(), new(Ticket), get("b")); err == nil {
		t.Error("Enter() beyond the limit returned no error")
	}
	running[0].ticket.Release()
	f.mustEnter(get("b"))
}

// TestEndOfWait checks that a waiting request leaves its queue when its context ends, or after MaxWait.
func TestEndOfWait(t *testing.T) {
	f := newFixture(t, 1)
	f.useTenants(1, 1, 10)
	f.mustEnter(get("a"))
	waiting := f.enqueue("tenants", get("a"))
	waiting.cancel()
	if err := <-waiting.result; err == nil {
		t.Error("Enter() with a canceled context returned no error")
	}
	f.MaxWait = time.Millisecond
	if err := f.Enter(t.Context(), new(Ticket), get("a")); err == nil {
		t.Error("Enter() after MaxWait returned no error")
	}
	if got := f.state("tenants"); got.waiting != 0 || got.executing != 1 {
		t.Errorf("state of the level = %+v, want an empty queue", got)
	}
}

// TestSuspend checks that a suspended request occupies no seats, and that it gets them back before it continues.
func TestSuspend(t *testing.T) {
	f := newFixture(t, 1)
	f.useTenants(8, 2, 10)
	slow := f.mustEnter(get("slow"))
	other := f.enqueue("tenants", get("other"))
	slow.ticket.Suspend()
	if err := <-other.result; err != nil {
		t.Fatal(err)
	}
	resumed := make(chan error)
	go func() { resumed <- slow.ticket.Resume(t.Context()) }()
	testwait.For(t, "the resumed request to wait", func() bool { return f.state("tenants").waiting == 1 })
	other.ticket.Release()
	if err := <-resumed; err != nil {
		t.Errorf("Resume() = %v, want no error", err)
	}
	slow.ticket.Suspend()
	ctx, cancel := context.WithCancel(t.Context())
	f.mustEnter(get("third"))
	cancel()
	if err := slow.ticket.Resume(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Resume() with a canceled context = %v, want %v", err, context.Canceled)
	}
	slow.ticket.Release()
	slow.ticket.Release()
	if got := f.state("tenants"); got != (levelState{0, 1, 1, got.limit}) {
		t.Errorf("state of the level = %+v, want one request that executes", got)
	}
}

// TestSeats checks the number of seats of lists and of writes that concern watches, and that the latter are occupied for a while
// after the write.
func TestSeats(t *testing.T) {
	f := newFixture(t, 600)
	f.useTenants(16, 4, 10)
	list := get("a")
	list.Verb, list.Name, list.ResponseBytes = "list", "", 350_000
	ticket := f.mustEnter(list)
	if got := f.state("tenants").seats; got != 4 {
		t.Errorf("seats of a list of 350 kB = %d, want 4", got)
	}
	ticket.ticket.Release()
	list.ResponseBytes = 1 << 30
	ticket = f.mustEnter(list)
	if got := f.state("tenants").seats; got != 10 {
		t.Errorf("seats of a list of 1 GiB = %d, want 10", got)
	}
	ticket.ticket.Release()

	var ends []func()
	for range 25 {
		ends = append(ends, f.Watch(&Request{Resource: "configmaps"}, nil))
	}
	write := get("a")
	write.Verb, write.ReadOnly = "patch", false
	ticket = f.mustEnter(write)
	if got := f.state("tenants").seats; got != 3 {
		t.Errorf("seats of a write with 25 watches = %d, want 3", got)
	}
	ticket.ticket.Release()
	if got := f.state("tenants"); got.executing != 0 || got.seats != 3 {
		t.Errorf("state after the write = %+v, want its seats to be occupied", got)
	}
	testwait.For(t, "the seats to be free", func() bool { return f.state("tenants").seats == 0 })
	for _, end := range ends {
		end()
	}
	f.mustEnter(write)
	if got := f.state("tenants").seats; got != 1 {
		t.Errorf("seats of a write without watches = %d, want 1", got)
	}
}

// TestBootstrapObjects checks the levels of the bootstrap objects, their sums, and the classification of some requests.
func TestBootstrapObjects(t *testing.T) {
	f := newFixture(t, 600)
	f.SetObjects(append(fcboot.SuggestedFlowSchemas, fcboot.MandatoryFlowSchemas...),
		append(fcboot.SuggestedPriorityLevelConfigurations, fcboot.MandatoryPriorityLevelConfigurations...))
	for name, nominal := range map[string]int{
		"exempt": 0, "catch-all": 13, "global-default": 49, "leader-election": 25, "node-high": 98, "system": 74, "workload-high": 98, "workload-low": 245,
	} {
		if got := f.levels[name].nominal; got != nominal {
			t.Errorf("nominal limit of %s = %d, want %d", name, got, nominal)
		}
	}
	lease := func(verb string) *Request {
		return &Request{
			User: &user.DefaultInfo{Name: "system:serviceaccount:kube-system:c", Groups: []string{"system:serviceaccounts", user.AllAuthenticated}},
			Verb: verb, Group: "coordination.k8s.io", Resource: "leases", Namespace: "kube-system", Name: "l",
		}
	}
	account := get("system:serviceaccount:team:robot", "system:serviceaccounts")
	probe := &Request{User: &user.DefaultInfo{Name: user.Anonymous, Groups: []string{user.AllUnauthenticated}}, Verb: "get", Path: "/readyz/ping"}
	discovery := get("alice")
	discovery.Resource, discovery.Namespace, discovery.Name, discovery.Path = "", "", "", "/openapi/v2"
	for want, r := range map[string]*Request{
		"exempt": get("admin", user.SystemPrivilegedGroup), "global-default": get("alice"), "service-accounts": account, "probes": probe,
		"system-leader-election": lease("update"), "kube-system-service-accounts": lease("list"), "system-nodes": get("system:node:n", user.NodesGroup),
	} {
		if got := f.match(r).name; got != want {
			t.Errorf("FlowSchema of %s %s/%s%s by %s = %s, want %s", r.Verb, r.Namespace, r.Resource, r.Path, r.User.GetName(), got, want)
		}
	}
	if got := f.match(discovery).name; got != "global-default" {
		t.Errorf("FlowSchema of /openapi/v2 = %s, want global-default", got)
	}
	if got := f.match(&Request{User: &user.DefaultInfo{Name: "x"}, Verb: "get", Path: "/x"}).name; got != "catch-all" {
		t.Errorf("FlowSchema of a user without groups = %s, want catch-all", got)
	}
}

// TestExempt checks that the group system:masters is never limited.
func TestExempt(t *testing.T) {
	f := newFixture(t, 1)
	for range 100 {
		f.mustEnter(get("admin", user.SystemPrivilegedGroup))
	}
}

// TestDangling checks that a FlowSchema whose level does not exist is not used, that its status is stored, and that a level that
// was deleted serves the requests that it has.
func TestDangling(t *testing.T) {
	f := newFixture(t, 10)
	stored := make(chan string, 10)
	f.SetDangling = func(_ context.Context, schema, level string, dangling bool) error {
		stored <- fmt.Sprint(schema, " ", level, " ", dangling)
		return nil
	}
	var running sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	running.Go(func() { f.Run(ctx) })
	f.useTenants(8, 2, 10)
	if got, want := <-stored, "tenants tenants false"; got != want {
		t.Errorf("stored status = %s, want %s", got, want)
	}
	e := f.mustEnter(get("a"))
	f.SetObjects([]*flowcontrolv1.FlowSchema{tenantSchema()}, nil)
	if got, want := <-stored, "tenants tenants true"; got != want {
		t.Errorf("stored status = %s, want %s", got, want)
	}
	if got := f.match(get("a")).name; got != "catch-all" {
		t.Errorf("FlowSchema after the deletion of the level = %s, want catch-all", got)
	}
	if got := f.state("tenants").executing; got != 1 {
		t.Errorf("executing requests of the deleted level = %d, want 1", got)
	}
	e.ticket.Release()
	f.adjust()
	if f.levels["tenants"] != nil {
		t.Error("the deleted level exists although it is idle")
	}
	cancel()
	running.Wait()
}

// TestSeeds checks that the queues of a flow differ between controllers, so that no user can choose a name with the queues of
// another user.
func TestSeeds(t *testing.T) {
	a, b := newFixture(t, 1), newFixture(t, 1)
	if first, second := a.hash("schema", "user"), b.hash("schema", "user"); first == second {
		t.Errorf("hash() of two controllers = %x, want different hashes", first)
	}
	if first, second := a.hash("schema", "user"), a.hash("schema", "user"); first != second {
		t.Errorf("hash() of the same flow = %x and %x, want equal hashes", first, second)
	}
}

// TestFixed checks the limits without priority and fairness.
func TestFixed(t *testing.T) {
	c := NewFixed(Options{Seats: 3, Metrics: metrics.New().FlowControl}, 2, 1)
	enter := func(r *Request) error { return c.Enter(t.Context(), new(Ticket), r) }
	write, watch := get("a"), get("a")
	write.ReadOnly, write.Verb, watch.Verb = false, "update", "watch"
	for i, want := range []struct {
		r        *Request
		rejected bool
	}{{get("a"), false}, {get("a"), false}, {get("a"), true}, {write, false}, {write, true}, {watch, false}, {get("a", user.SystemPrivilegedGroup), false}} {
		if err := enter(want.r); (err != nil) != want.rejected {
			t.Errorf("request %d: Enter() = %v, want a rejection: %t", i, err, want.rejected)
		}
	}
}

// TestRandomRequests checks the invariants of a level under random requests, and after changes of its configuration.
func TestRandomRequests(t *testing.T) {
	f := newFixture(t, 20)
	f.clock.isReal = true
	f.useTenants(16, 3, 5)
	f.MaxWait = 2 * time.Millisecond
	var group sync.WaitGroup
	for worker := range 40 {
		group.Go(func() {
			random := rand.New(rand.NewPCG(uint64(worker), 1))
			for range 200 {
				r := get(fmt.Sprint("user-", random.IntN(10)))
				r.ResponseBytes = random.IntN(600_000)
				var ticket Ticket
				if f.Enter(t.Context(), &ticket, r) != nil {
					continue
				}
				if random.IntN(3) == 0 {
					ticket.Suspend()
					ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
					_ = ticket.Resume(ctx)
					cancel()
				}
				ticket.Release()
			}
		})
	}
	done := make(chan struct{})
	go func() { group.Wait(); close(done) }()
	level := f.levels["tenants"]
	for i := 0; ; i++ {
		select {
		case <-done:
			if err := level.check(); err != nil {
				t.Error(err)
			}
			if got := f.state("tenants"); got.waiting+got.executing+got.seats != 0 {
				t.Errorf("state after all requests = %+v, want an idle level", got)
			}
			return
		default:
		}
		if err := level.check(); err != nil {
			t.Fatal(err)
		}
		if i%50 == 0 {
			f.useTenants(int32(4+i%20), 3, 5)
			f.adjust()
		}
	}
}

// TestDebug checks the tables of levels, queues and requests.
func TestDebug(t *testing.T) {
	f := newFixture(t, 1)
	f.useTenants(2, 1, 10)
	f.mustEnter(get("a"))
	f.enqueue("tenants", get("a"))
	dump := func(path string) string {
		w := httptest.NewRecorder()
		if !f.ServeDebug(w, httptest.NewRequest("GET", DebugPath+path, nil)) {
			t.Fatalf("ServeDebug(%s) = false, want true", path)
		}
		return strings.Join(strings.Fields(w.Body.String()), "")
	}
	for path, want := range map[string]string{
		"dump_priority_levels":                   "tenants,1,false,false,1,1,1,0,0,0",
		"dump_queues":                            "tenants,1,",
		"dump_requests?includeRequestDetails=1":  "tenants,tenants,",
		"dump_requests?includeRequestDetails=1&": ",a,get,,default,x,v1,configmaps,",
	} {
		if got := dump(path); !strings.Contains(got, want) {
			t.Errorf("%s =\n%s\nwant it to contain %s", path, got, want)
		}
	}
	if f.ServeDebug(httptest.NewRecorder(), httptest.NewRequest("GET", DebugPath+"nothing", nil)) {
		t.Error("ServeDebug() of an unknown table = true, want false")
	}
}

// BenchmarkEnter measures Enter and Release of a request that does not wait.
func BenchmarkEnter(b *testing.B) {
	c := New(Options{Seats: 600, Metrics: metrics.New().FlowControl})
	c.SetObjects(append(fcboot.SuggestedFlowSchemas, fcboot.MandatoryFlowSchemas...),
		append(fcboot.SuggestedPriorityLevelConfigurations, fcboot.MandatoryPriorityLevelConfigurations...))
	write := get("alice", "team")
	write.Verb, write.ReadOnly = "patch", false
	for name, r := range map[string]*Request{"get": get("alice", "team"), "patch": write, "exempt": get("admin", user.SystemPrivilegedGroup)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var t Ticket
				if err := c.Enter(b.Context(), &t, r); err != nil {
					b.Fatal(err)
				}
				t.Release()
			}
		})
	}
}
