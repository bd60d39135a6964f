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
	extraKey   = watchcache.Key{Kind: "core/configmaps", Namespace: "default", Name: "beside"}
)

// plugin is an admission plugin that calls admit and validate for writes to ConfigMaps, in the given phases.
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
	return registrytest.OpenWithPlugins(t, watchcachetest.OpenStore(t), p)
}

// TestRequireUnchanged checks that a write is repeated, including admission, if an object that a plugin has passed to
// RequireUnchanged changes.
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
		if len(seen) < 3 { // the object changes after admission and before the commit
			k.Merge("configmaps", "default", "gate", `{"data":{"n":"`+strings.Repeat("1", len(seen))+`"}}`)
		}
		return nil
	}
	k.Create("configmaps", "default", `{"metadata":{"name":"c"}}`)
	if got := strings.Join(seen, " "); got != "0 1 11" {
		t.Errorf("values that the attempts read: got %q, want \"0 1 11\"", got)
	}
	if got := k.Get("core/configmaps", "default", "c").Lookup("data", "gate").Text(); got != "11" {
		t.Errorf("data.gate of the stored object: got %q, want \"11\" of the last attempt", got)
	}
}

// TestCommitWith checks that the write of an admission plugin is committed in one transaction with the object, and that it is
// not committed in a dry run or if the object is rejected or invalid.
func TestCommitWith(t *testing.T) {
	p := &plugin{phases: admission.Mutating | admission.Validating}
	k := open(t, p)
	rejects := false
	p.admit = func(_ context.Context, a *admission.Attributes) error {
		admission.RecordOf(a).CommitWith(storage.Write{Key: extraKey.String(), Value: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"beside","namespace":"default"}}`)})
		return nil
	}
	p.validate = func(a *admission.Attributes) error {
		if rejects {
			return a.Forbidden(errors.New("no"))
		}
		return nil
	}
	has := func() bool { return k.Has(extraKey.Kind, extraKey.Namespace, extraKey.Name) }

	dry := k.Request("configmaps", "default", "", `{"metadata":{"name":"c"}}`)
	dry.DryRun = true
	if _, err := k.Registry.Create(t.Context(), dry); err != nil || has() {
		t.Errorf("create in a dry run: write of the plugin committed: got %v, want false; error %v, want none", has(), err)
	}
	rejects = true
	if _, err := k.TryCreate("configmaps", "default", `{"metadata":{"name":"c"}}`); !apierrors.IsForbidden(err) || has() {
		t.Errorf("create that a plugin rejects: write of the plugin committed: got %v, want false; error %v, want a 403", has(), err)
	}
	rejects = false
	if _, err := k.TryCreate("configmaps", "default", `{"metadata":{"name":"Invalid"}}`); !apierrors.IsInvalid(err) || has() {
		t.Errorf("create of an invalid object: write of the plugin committed: got %v, want false; error %v, want a 422", has(), err)
	}
	if k.Create("configmaps", "default", `{"metadata":{"name":"c"}}`); !has() {
		t.Error("create: write of the plugin committed: got false, want true")
	}
}

// TestAddErrors checks that field errors which admission plugins add precede the errors of the resource's validation.
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
		t.Errorf("create of an invalid object: got error %v, want a 422 that begins with %s", err, want)
	}
}

// TestNoOps checks that a write that changes nothing calls only the plugins that handle no-ops, in the phases that these
// plugins handle.
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
			t.Errorf("no-op patch with a plugin for phases %b: got calls %q, want %q", test.phases, log, test.want)
		}
	}
}

// TestMutatedFieldsHaveNoOwner checks that fields which admission plugins set belong to no field manager.
func TestMutatedFieldsHaveNoOwner(t *testing.T) {
	p := &plugin{phases: admission.Mutating}
	k := open(t, p)
	p.admit = func(_ context.Context, a *admission.Attributes) error {
		a.Object = a.Object.With("data", a.Object.Get("data").With("set", document.NewString("by a plugin")))
		return nil
	}
	result, err := k.Registry.Apply(t.Context(), k.Request("configmaps", "default", "c", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"1"}}`))
	if err != nil {
		t.Fatal(err)
	}
	text := result.Object.Text()
	if !strings.Contains(text, `"set":"by a plugin"`) || strings.Contains(text, `f:set`) || !strings.Contains(text, `f:a`) {
		t.Errorf("applied ConfigMap: got %s, want data.a with an owner and data.set without one", text)
	}
}

// TestDeadlineBetweenStages checks that a write whose deadline passes during admission is not processed any further.
func TestDeadlineBetweenStages(t *testing.T) {
	p := &plugin{phases: admission.Mutating | admission.Validating}
	k := open(t, p)
	ctx, cancel := context.WithCancel(t.Context())
	p.admit = func(context.Context, *admission.Attributes) error { cancel(); return nil }
	p.validate = func(*admission.Attributes) error {
		t.Error("the write is validated after its deadline")
		return nil
	}
	if _, err := k.Registry.Create(ctx, k.Request("configmaps", "default", "", `{"metadata":{"name":"c"}}`)); !apierrors.IsTimeout(err) {
		t.Errorf("Create() with a deadline in the past = %v, want a 504", err)
	}
}
