package registry_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/registry/registrytest"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
	"github.com/cadastre/cadastre/internal/watchcache/watchcachetest"
)

var (
	configMaps = schema.GroupResource{Resource: "configmaps"}
	beside     = watchcache.Key{Kind: "core/configmaps", Namespace: "default", Name: "beside"}
)

// plugin handles writes to ConfigMaps.
type plugin struct {
	phases   admission.Phase
	admit    func(ctx context.Context, a *admission.Attributes) error
	validate func(a *admission.Attributes) error
}

func (*plugin) Name() string { return "Test" }

func (p *plugin) Handles(_ admission.Operation, r admission.Resource) admission.Phase {
	if r.Is("", "configmaps") {
		return p.phases
	}
	return 0
}

func (p *plugin) Admit(ctx context.Context, a *admission.Attributes) error { return p.admit(ctx, a) }

func (p *plugin) Validate(_ context.Context, a *admission.Attributes) error { return p.validate(a) }

func open(t *testing.T, p *plugin) *registrytest.Kit {
	return registrytest.WithPlugins(t, watchcachetest.OpenStore(t), p)
}

// TestRequireUnchanged: a write is repeated, admission included, if an object changes that a plugin has read.
func TestRequireUnchanged(t *testing.T) {
	p := &plugin{phases: admission.Mutating}
	k := open(t, p)
	p.admit = func(context.Context, *admission.Attributes) error { return nil }
	k.Create("configmaps", "default", `{"metadata":{"name":"gate"},"data":{"n":"0"}}`)
	var seen []string
	p.admit = func(ctx context.Context, a *admission.Attributes) error {
		if a.Name == "gate" {
			return nil
		}
		gate, err := a.Reader.Get(ctx, configMaps, "default", "gate")
		if err != nil {
			return err
		}
		a.RequireUnchanged(gate)
		value := gate.Document.Lookup("data", "n")
		seen = append(seen, value.Text())
		a.Object = a.Object.With("data", a.Object.Get("data").With("gate", value))
		if len(seen) < 3 { // before the commit of the write
			k.Merge("configmaps", "default", "gate", `{"data":{"n":"`+strings.Repeat("1", len(seen))+`"}}`)
		}
		return nil
	}
	k.Create("configmaps", "default", `{"metadata":{"name":"c"}}`)
	if got := strings.Join(seen, " "); got != "0 1 11" {
		t.Errorf("expected three attempts, received %q", got)
	}
	if got := k.Get("core/configmaps", "default", "c").Lookup("data", "gate").Text(); got != "11" {
		t.Errorf("expected the value of the last attempt, received %q", got)
	}
}

// TestCommitWith: a plugin's write is committed together with the object, or not at all.
func TestCommitWith(t *testing.T) {
	p := &plugin{phases: admission.Mutating | admission.Validating}
	k := open(t, p)
	rejects := false
	p.admit = func(_ context.Context, a *admission.Attributes) error {
		admission.RecordOf(a).CommitWith(storage.Write{Key: beside.String(), Value: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"beside","namespace":"default"}}`)})
		return nil
	}
	p.validate = func(a *admission.Attributes) error {
		if rejects {
			return a.Forbidden(errors.New("no"))
		}
		return nil
	}
	has := func() bool { return k.Has(beside.Kind, beside.Namespace, beside.Name) }

	dry := k.Request("configmaps", "default", "", `{"metadata":{"name":"c"}}`)
	dry.DryRun = true
	if _, err := k.All.Create(t.Context(), dry); err != nil || has() {
		t.Errorf("dry run: committed %v, %v", has(), err)
	}
	rejects = true
	if _, err := k.TryCreate("configmaps", "default", `{"metadata":{"name":"c"}}`); !apierrors.IsForbidden(err) || has() {
		t.Errorf("rejected: committed %v, %v", has(), err)
	}
	rejects = false
	if _, err := k.TryCreate("configmaps", "default", `{"metadata":{"name":"Invalid"}}`); !apierrors.IsInvalid(err) || has() {
		t.Errorf("invalid: committed %v, %v", has(), err)
	}
	if k.Create("configmaps", "default", `{"metadata":{"name":"c"}}`); !has() {
		t.Error("the write of the plugin is not committed")
	}
}

// TestAddErrors: the field errors of plugins are reported before those of the resource's validation.
func TestAddErrors(t *testing.T) {
	p := &plugin{phases: admission.Mutating}
	k := open(t, p)
	p.admit = func(_ context.Context, a *admission.Attributes) error {
		a.AddErrors(field.Forbidden(field.NewPath("data"), "by a plugin"), field.Required(field.NewPath("z"), "also"))
		return nil
	}
	_, err := k.TryCreate("configmaps", "default", `{"metadata":{"name":"Invalid"}}`)
	const want = `ConfigMap "Invalid" is invalid: [data: Forbidden: by a plugin, z: Required value: also, metadata.name: Invalid value`
	if !apierrors.IsInvalid(err) || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("expected %s…, received %v", want, err)
	}
}

// TestNoOps: a write that changes nothing reaches only plugins that handle no-ops, in the phases that they handle.
func TestNoOps(t *testing.T) {
	for _, test := range []struct {
		phases admission.Phase
		want   string
	}{
		{admission.Mutating | admission.Validating, ""},
		{admission.Mutating | admission.NoOps, "admit "},
		{admission.Validating | admission.NoOps, "validate "},
		{admission.Mutating | admission.Validating | admission.NoOps, "admit validate "},
	} {
		p, log := &plugin{phases: test.phases}, ""
		k := open(t, p)
		p.admit = func(context.Context, *admission.Attributes) error { log += "admit "; return nil }
		p.validate = func(*admission.Attributes) error { log += "validate "; return nil }
		k.Create("configmaps", "default", `{"metadata":{"name":"c"},"data":{"a":"1"}}`)
		log = ""
		k.Merge("configmaps", "default", "c", `{"data":{"a":"1"}}`)
		if log != test.want {
			t.Errorf("%b: expected %q, received %q", test.phases, test.want, log)
		}
	}
}

// TestMutatedFieldsHaveNoOwner: managed fields are computed before plugins run.
func TestMutatedFieldsHaveNoOwner(t *testing.T) {
	p := &plugin{phases: admission.Mutating}
	k := open(t, p)
	p.admit = func(_ context.Context, a *admission.Attributes) error {
		a.Object = a.Object.With("data", a.Object.Get("data").With("set", document.NewString("by a plugin")))
		return nil
	}
	result, err := k.All.Apply(t.Context(), k.Request("configmaps", "default", "c", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"1"}}`))
	if err != nil {
		t.Fatal(err)
	}
	text := result.Object.Text()
	if !strings.Contains(text, `"set":"by a plugin"`) || strings.Contains(text, `f:set`) || !strings.Contains(text, `f:a`) {
		t.Errorf("received %s", text)
	}
}
