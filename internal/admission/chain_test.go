package admission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/storage"
)

// fake is an admission plugin that appends the name of each called method to a log.
type fake struct {
	name   string
	phases Phase
	log    *[]string
	admit  func(*Record) error
	err    error
}

func (f *fake) Name() string { return f.name }

func (f *fake) Handles(Operation, Resource) Phase { return f.phases }

func (f *fake) Admit(_ context.Context, a *Attributes) error {
	*f.log = append(*f.log, "admit "+f.name)
	if f.admit != nil {
		return f.admit(RecordOf(a))
	}
	return f.err
}

func (f *fake) Validate(context.Context, *Attributes) error {
	*f.log = append(*f.log, "validate "+f.name)
	return f.err
}

// run runs both phases of a chain of plugins for the creation of a ConfigMap and returns the error of the chain. It resets
// log first.
func run(t *testing.T, noOp bool, log *[]string, plugins ...Plugin) error {
	t.Helper()
	*log = nil
	a := attributes(configMaps, "")
	plan := NewChain(plugins...).Endpoint(a.Resource).Plan(Create)
	if err := plan.Admit(t.Context(), a); err != nil {
		return err
	}
	return plan.Validate(t.Context(), a, noOp)
}

func TestOrderAndPhases(t *testing.T) {
	var log []string
	failure := errors.New("no")
	both, mutating := &fake{name: "both", phases: Mutating | Validating, log: &log}, &fake{name: "mutating", phases: Mutating, log: &log}
	validating, noOps := &fake{name: "validating", phases: Validating, log: &log}, &fake{name: "noOps", phases: Validating | NoOps, log: &log}
	none := &fake{name: "none", log: &log}
	onlyNoOps := &fake{name: "onlyNoOps", phases: NoOps, log: &log}
	failing := &fake{name: "failing", phases: Mutating | Validating, log: &log, err: failure}
	lateFailing := &fake{name: "lateFailing", phases: Validating, log: &log, err: failure}
	for _, test := range []struct {
		name    string
		plugins []Plugin
		noOp    bool
		err     error
		want    string
	}{
		{"no plugins", nil, false, nil, ""},
		{"a plugin that handles nothing", []Plugin{none}, false, nil, ""},
		{"NoOps extends other phases only", []Plugin{onlyNoOps}, true, nil, ""},
		{"in order, phase by phase", []Plugin{validating, both, none, mutating, noOps}, false, nil, "admit both, admit mutating, validate validating, validate both, validate noOps"},
		{"no-ops", []Plugin{validating, both, mutating, noOps}, true, nil, "admit both, admit mutating, validate noOps"},
		{"an error of Admit ends the chain", []Plugin{both, failing, mutating}, false, failure, "admit both, admit failing"},
		{"an error of Validate ends the chain", []Plugin{mutating, lateFailing, validating}, false, failure, "admit mutating, validate lateFailing"},
	} {
		err := run(t, test.noOp, &log, test.plugins...)
		if got := strings.Join(log, ", "); !errors.Is(err, test.err) || got != test.want {
			t.Errorf("%s: got calls %q, error %v, want %q, %v", test.name, got, err, test.want, test.err)
		}
	}
}

// TestPlans checks which phases a Plan reports for plugins that handle different phases.
func TestPlans(t *testing.T) {
	for _, test := range []struct {
		phases []Phase
		want   string
	}{
		{nil, "nil: false false false false"},
		{[]Phase{0, 0}, "nil: false false false false"},
		{[]Phase{NoOps}, "nil: false false false false"},
		{[]Phase{Mutating}, "plan: true false false false"},
		{[]Phase{Validating}, "plan: false true false false"},
		{[]Phase{Mutating | NoOps}, "plan: true false false true"},
		{[]Phase{Validating | NoOps, Mutating}, "plan: true true true true"},
		{[]Phase{Validating, Mutating | NoOps}, "plan: true true false true"},
	} {
		var plugins []Plugin
		for _, phases := range test.phases {
			plugins = append(plugins, &fake{phases: phases})
		}
		plan := NewChain(plugins...).Endpoint(resourceOf(configMaps)).Plan(Update)
		text := "plan"
		if plan == nil {
			text = "nil"
		}
		got := fmt.Sprintf("%s: %v %v %v %v", text, plan.Mutates(), plan.Validates(false), plan.Validates(true), plan.HandlesNoOps())
		if got != test.want {
			t.Errorf("plan of plugins %v: got %s, want %s", test.phases, got, test.want)
		}
	}
}

func TestNilChain(t *testing.T) {
	var chain *Chain
	if plugins := chain.Plugins(); plugins != nil {
		t.Errorf("Plugins of a nil chain: received %v, want nil", plugins)
	}
	plan := chain.Endpoint(resourceOf(configMaps)).Plan(Create)
	if err := errors.Join(plan.Admit(t.Context(), nil), plan.Validate(t.Context(), nil, false)); plan != nil || err != nil {
		t.Errorf("plan of a nil chain: received %v, error %v, want nil and no error", plan, err)
	}
}

// TestPluginsIsACopy checks that a caller cannot reorder a chain through the result of Plugins.
func TestPluginsIsACopy(t *testing.T) {
	first, second := &fake{name: "first"}, &fake{name: "second"}
	chain := NewChain(first, second)
	slices.Reverse(chain.Plugins())
	if plugins := chain.Plugins(); plugins[0] != Plugin(first) || plugins[1] != Plugin(second) {
		t.Errorf("Plugins after the caller reversed an earlier result: received %v, want first, second", plugins)
	}
}

// configuredPlugin is a plugin that handles CREATE in phases that the test can change, and counts the calls of Handles.
type configuredPlugin struct {
	MutatingOnly
	phases atomic.Uint32
	calls  atomic.Int64
}

func (*configuredPlugin) Name() string { return "configured" }

func (c *configuredPlugin) Handles(operation Operation, _ Resource) Phase {
	c.calls.Add(1)
	if operation != Create {
		return 0
	}
	return Phase(c.phases.Load())
}

func (*configuredPlugin) Admit(context.Context, *Attributes) error { return nil }

// TestInvalidate checks that Handles is called once per endpoint and operation, and once more after each Invalidate.
func TestInvalidate(t *testing.T) {
	plugin := &configuredPlugin{}
	chain := NewChain(plugin)
	one, other := chain.Endpoint(resourceOf(configMaps)), chain.Endpoint(resourceOf(spaces))
	resolve := func() (handled bool) {
		for range 3 {
			create, update := one.Plan(Create), one.Plan(Update)
			otherCreate, otherDelete := other.Plan(Create), other.Plan(Delete)
			handled = create.Mutates() && otherCreate.Mutates()
			if update != nil || otherDelete != nil {
				t.Error("Plan() of an operation that no plugin handles: got a plan, want nil")
			}
		}
		return handled
	}
	if resolve() || plugin.calls.Load() != 4 {
		t.Errorf("before any configuration: got %d calls of Handles or a plan, want 4 calls and no plan", plugin.calls.Load())
	}
	plugin.phases.Store(uint32(Mutating))
	if resolve() || plugin.calls.Load() != 4 {
		t.Errorf("after a change without Invalidate: got %d calls of Handles in total, want 4", plugin.calls.Load())
	}
	chain.Invalidate()
	if !resolve() || plugin.calls.Load() != 8 {
		t.Errorf("after Invalidate: got %d calls of Handles in total or no plan, want 8 calls and a plan", plugin.calls.Load())
	}
}

// TestInvalidateConcurrently checks that a Plan that is requested after Invalidate returned reflects the changed
// configuration, even if other goroutines resolve plans at the same time.
func TestInvalidateConcurrently(t *testing.T) {
	plugin := &configuredPlugin{}
	chain := NewChain(plugin)
	endpoint := chain.Endpoint(resourceOf(configMaps))
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for ctx.Err() == nil {
				_ = endpoint.Plan(Create).Admit(ctx, NewRecord(Attributes{}, nil))
			}
		})
	}
	for i := range 2000 {
		want := Phase(i%2) * Mutating
		plugin.phases.Store(uint32(want))
		chain.Invalidate()
		if got := endpoint.Plan(Create).Mutates(); got != (want != 0) {
			t.Fatalf("round %d: after Invalidate, Mutates() = %v, want %v", i, got, want != 0)
		}
	}
	stop()
	readers.Wait()
}

// fakeWebhookPlugin returns a plugin that calls fake webhooks, except, in the second run, webhooks for which
// Reinvocation.Skips returns true.
func fakeWebhookPlugin(log *[]string, hooks ...hook) *fake {
	return &fake{name: "webhooks", phases: Mutating, log: log, admit: func(a *Record) error {
		for _, h := range hooks {
			if a.Reinvocation.Webhooks.Skips(h.id) {
				continue
			}
			*log = append(*log, h.id)
			changed := h.changes && !a.Reinvocation.Webhooks.IsSecond()
			if changed {
				a.Object = a.Object.With(h.id, document.NewBool(true))
			}
			a.Reinvocation.Webhooks.Called(h.id, h.ifNeeded, changed)
		}
		return nil
	}}
}

type hook struct {
	id                string
	ifNeeded, changes bool
}

// TestReinvocation checks that, if a webhook changed the object, a second run calls in-tree plugins, and webhooks with
// reinvocationPolicy IfNeeded that were called before the change.
func TestReinvocation(t *testing.T) {
	for _, test := range []struct {
		name  string
		hooks []hook
		want  string
	}{
		{"no change", []hook{{"a", true, false}, {"b", true, false}}, "admit tree, admit webhooks, a, b"},
		{"the last changes", []hook{{"a", true, false}, {"b", true, true}}, "admit tree, admit webhooks, a, b, admit tree, admit webhooks, a"},
		{"the first changes", []hook{{"a", true, true}, {"b", true, false}}, "admit tree, admit webhooks, a, b, admit tree, admit webhooks"},
		{"Never", []hook{{"a", false, false}, {"b", true, true}}, "admit tree, admit webhooks, a, b, admit tree, admit webhooks"},
		{"both change", []hook{{"a", true, true}, {"b", true, true}}, "admit tree, admit webhooks, a, b, admit tree, admit webhooks, a"},
	} {
		var log []string
		err := run(t, false, &log, &fake{name: "tree", phases: Mutating, log: &log}, fakeWebhookPlugin(&log, test.hooks...))
		if got := strings.Join(log, ", "); err != nil || got != test.want {
			t.Errorf("%s: got calls %q, error %v, want %q", test.name, got, err, test.want)
		}
	}
}

// TestReinvocationCollectsOnce checks that the second run of a plugin does not duplicate the conditions and field errors
// that its first run added.
func TestReinvocationCollectsOnce(t *testing.T) {
	var log []string
	var attributes *Record
	tree := &fake{name: "tree", phases: Mutating, log: &log, admit: func(a *Record) error {
		attributes = a
		a.RequireUnchanged(Object{Key: "k", Revision: 7})
		a.AddErrors(field.Required(field.NewPath("a"), ""))
		return nil
	}}
	if err := run(t, false, &log, tree, fakeWebhookPlugin(&log, hook{"a", false, true})); err != nil || len(log) != 5 {
		t.Fatalf("admission failed: received error %v after the calls %q, want no error after 5 calls", err, log)
	}
	if len(attributes.Commits()) != 1 || len(attributes.Errors()) != 1 {
		t.Errorf("two runs added %v and %v, want one each", attributes.Commits(), attributes.Errors())
	}
}

// plainSource is a Source of a resource with one version. Whole adds managedFields to the object.
type plainSource struct{ Source }

func (plainSource) Whole(obj document.Value) (document.Value, error) {
	return obj.With("metadata", obj.Get("metadata").With("managedFields", document.NewString("original"))), nil
}

func (plainSource) Convert(doc document.Value, _, _ string) (document.Value, error) { return doc, nil }

// TestReturnedObjectKeepsLaterChanges checks that changes which an in-tree plugin makes in the second run are not lost, and
// that they do not discard the managedFields that a webhook returned.
func TestReturnedObjectKeepsLaterChanges(t *testing.T) {
	a := NewRecord(Attributes{Resource: resourceOf(configMaps)}, plainSource{})
	set := func(doc document.Value, name, value string) document.Value {
		return doc.With(name, document.NewString(value))
	}
	a.Object = set(document.NewMap(), "apiVersion", "v1")
	object, err := a.objectAt(a.Versioned())
	if err != nil {
		t.Fatal(err)
	}
	returned := set(object, "webhook", "1")
	returned = returned.With("metadata", returned.Get("metadata").With("managedFields", document.NewString("returned")))
	a.Return(returned, a.Versioned())
	if err := a.Settle(); err != nil || a.Object.Get("webhook").Text() != "1" || !a.Object.Lookup("metadata", "managedFields").IsAbsent() {
		t.Fatalf("Settle after a webhook returned the object: received %s, error %v, want the webhook's field and no managedFields", a.Object.JSON(), err)
	}
	a.Object = set(a.Object, "tree", "2")
	if err := a.Settle(); err != nil || a.Object.Get("tree").Text() != "2" || a.Object.Get("webhook").Text() != "1" {
		t.Errorf("Settle after a later change: received %s, error %v, want the fields of both the webhook and the plugin", a.Object.JSON(), err)
	}
	whole, err := a.Returned()
	if err != nil || !a.WasReturned() || whole.Get("tree").Text() != "2" || whole.Lookup("metadata", "managedFields").Text() != "returned" {
		t.Errorf("Returned: received %s, error %v, want the plugin's field and the webhook's managedFields", whole.JSON(), err)
	}
}

// TestCommitWithOneWritePerKey checks that a commit contains one write or condition per key: equal conditions are merged, and
// a write takes precedence over a condition.
func TestCommitWithOneWritePerKey(t *testing.T) {
	a := NewRecord(Attributes{}, nil)
	a.RequireUnchanged(Object{Key: "k", Revision: 7})
	a.RequireUnchanged(Object{Key: "k", Revision: 7})
	a.CommitWith(storage.Write{Key: "k", Expected: 7, Value: []byte("1")})
	a.RequireUnchanged(Object{Key: "k", Revision: 7})
	a.CommitWith(storage.Write{Key: "l", Value: []byte("2")})
	if all := a.Commits(); len(all) != 2 || string(all[0].Value) != "1" || all[1].Key != "l" {
		t.Errorf("Commits: received %v, want one write of k and one of l", all)
	}
}

func TestReinvocationError(t *testing.T) {
	var log []string
	failure := errors.New("no")
	tree := &fake{name: "tree", phases: Mutating, log: &log, admit: func(a *Record) error {
		if a.Reinvocation.Webhooks.IsSecond() {
			return failure
		}
		return nil
	}}
	if err := run(t, false, &log, tree, fakeWebhookPlugin(&log, hook{"a", false, true})); !errors.Is(err, failure) || len(log) != 4 {
		t.Errorf("received error %v after the calls %q, want %v after 4 calls", err, log, failure)
	}
}

// newUnhandledEndpoint returns the endpoint of ConfigMaps in a chain of twenty plugins that handle nothing.
func newUnhandledEndpoint() *Endpoint {
	plugins := make([]Plugin, 20)
	for i := range plugins {
		plugins[i] = &fake{}
	}
	return NewChain(plugins...).Endpoint(resourceOf(configMaps))
}

func admitUnhandled(endpoint *Endpoint) bool {
	plan := endpoint.Plan(Update)
	return plan.Mutates() || plan.HandlesNoOps() || plan.Validates(false)
}

// TestUnhandledAllocations checks that the chain allocates no memory for a write that no plugin handles.
func TestUnhandledAllocations(t *testing.T) {
	endpoint := newUnhandledEndpoint()
	if n := testing.AllocsPerRun(100, func() { admitUnhandled(endpoint) }); n > 0 {
		t.Errorf("allocations per write that no plugin handles = %v, want 0", n)
	}
}

// BenchmarkUnhandled measures a write through a chain of twenty plugins that do not handle it.
func BenchmarkUnhandled(b *testing.B) {
	endpoint := newUnhandledEndpoint()
	b.ReportAllocs()
	for b.Loop() {
		if admitUnhandled(endpoint) {
			b.Fatal("a plugin handles the write, want none")
		}
	}
}
