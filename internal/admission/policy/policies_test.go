package policy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/auth/authn"
	"github.com/cadastre/cadastre/internal/metrics"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
	"github.com/cadastre/cadastre/internal/watchcache/watchcachetest"
)

// What policies decide is compared with kube-apiserver by the scripts of applytest, area admission. Here is what can't
// be seen from outside, or is hard to bring about there.

// office has policies, and a cache with what they are about.
type office struct {
	*testing.T
	*Policies
	store storage.Store
	log   strings.Builder
	warns []string
	there map[string]map[string]*watchcache.Object
}

func newOffice(t *testing.T) *office {
	t.Helper()
	register, err := api.NewRegister(api.Builtin()...)
	if err != nil {
		t.Fatal(err)
	}
	s := watchcachetest.OpenStore(t)
	o := &office{T: t, store: s, there: map[string]map[string]*watchcache.Object{Validating: {}, ValidatingBindings: {}}}
	o.Policies = New(Options{
		Cache: watchcachetest.Over(t, s), Kinds: register, Metrics: metrics.New(), Log: slog.New(slog.NewTextHandler(&o.log, nil)),
		Authorizer: authorizer.AuthorizerFunc(func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
			return authorizer.DecisionNoOpinion, "", nil
		}),
	})
	return o
}

// put stores an object in YAML, and has the policies look if it is one.
func (o *office) put(kind, namespace, name, spec string) {
	o.Helper()
	doc, err := document.ParseYAML([]byte(fmt.Sprintf("metadata: {name: %s, labels: {is: %s}}\n%s", name, name, spec)))
	if err != nil {
		o.Fatal(err)
	}
	key := watchcache.Key{Kind: kind, Namespace: namespace, Name: name}
	if _, err := o.store.Commit(o.Context(), storage.Write{Key: key.String(), Value: doc.AppendJSON(nil)}); err != nil {
		o.Fatal(err)
	}
	object, err := o.Cache.Get(o.Context(), key, watchcache.Latest)
	if err != nil {
		o.Fatal(err)
	}
	if o.there[kind] != nil {
		o.there[kind][name] = object
		o.Set(kind, o.there[kind])
	}
}

// bind binds a policy by its own name.
func (o *office) bind(policy, more string) {
	o.Helper()
	o.put(ValidatingBindings, "", policy, fmt.Sprintf("spec: {policyName: %s, validationActions: [Deny]%s}", policy, more))
}

// Get implements admission.Reader: every namespace exists.
func (o *office) Get(_ context.Context, _ schema.GroupResource, _, name string) (admission.Object, error) {
	doc, err := document.ParseJSON(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"` + name + `"}}`)
	return admission.Object{Document: doc}, err
}

// List implements admission.Reader.
func (o *office) List(context.Context, schema.GroupResource, string) ([]admission.Object, error) {
	return nil, nil
}

// wholeSource is a Source of objects without managedFields.
type wholeSource struct{ admission.Source }

func (wholeSource) Options() runtime.Object                          { return &metav1.CreateOptions{} }
func (wholeSource) Whole(obj document.Value) (document.Value, error) { return obj, nil }
func (wholeSource) OldWhole() (document.Value, error)                { return document.Value{}, nil }

// attributes describe the creation of a ConfigMap.
func (o *office) attributes(name string) *admission.Attributes {
	o.Helper()
	kind, ok := o.Kinds.Resource("", "v1", "configmaps")
	if !ok {
		o.Fatal("there are no ConfigMaps")
	}
	object, err := document.ParseJSON(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"` + name + `","namespace":"red"}}`)
	if err != nil {
		o.Fatal(err)
	}
	a := admission.NewRecord(admission.Attributes{
		Resource: admission.NewResource(kind, "v1", "", schema.GroupVersionKind{}), Operation: admission.Create, Namespace: "red", Name: name, Object: object, Reader: o,
		User: &authn.User{Name: "ann"}, Warn: func(text string) { o.warns = append(o.warns, text) },
	}, wholeSource{})
	return &a.Attributes
}

// refused returns why something is refused, "" if it is not.
func (o *office) refused(name string) string {
	o.Helper()
	err := o.Validate(o.Context(), o.attributes(name))
	if err == nil {
		return ""
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		o.Fatalf("%v, expected a status", err)
	}
	return fmt.Sprint(status.Status().Code, " ", status.Status().Details.Causes[0].Message)
}

func (o *office) counted() string {
	answer := httptest.NewRecorder()
	o.Metrics.Handler().ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	text, _ := io.ReadAll(answer.Body)
	return string(text)
}

const aboutConfigMaps = `matchConstraints: {namespaceSelector: {}, objectSelector: {}, resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE]}]}`

func spec(more string) string { return "spec:\n  " + aboutConfigMaps + "\n  " + more }

func noneCalled(name string) string {
	return spec(fmt.Sprintf(`validations: [{expression: 'object.metadata.name != %q'}]`, name))
}

// TestConcern: only what a bound policy is for may have to be asked about.
func TestConcern(t *testing.T) {
	o := newOffice(t)
	resource := o.attributes("a").Resource
	handles := func(o *office, operation admission.Operation) bool { return o.Handles(operation, resource) != 0 }
	if handles(o, admission.Create) {
		t.Error("there are no policies")
	}
	o.put(Validating, "", "p", noneCalled("bad"))
	if handles(o, admission.Create) {
		t.Error("the policy is not bound")
	}
	o.bind("p", "")
	if !handles(o, admission.Create) || handles(o, admission.Update) {
		t.Error("expected that it is asked about what is created, and nothing else")
	}
	delete(o.there[Validating], "p")
	o.Set(Validating, o.there[Validating])
	if handles(o, admission.Create) {
		t.Error("the policy is gone")
	}
}

// TestFirstDenial: all policies are asked, in the order of their names, and the client hears the first that refuses.
func TestFirstDenial(t *testing.T) {
	o := newOffice(t)
	for _, name := range []string{"c", "a", "b"} {
		o.put(Validating, "", name, noneCalled("bad"))
	}
	o.put(ValidatingBindings, "", "a", "spec: {policyName: a, validationActions: [Warn]}")
	o.bind("b", "")
	o.bind("c", "")
	if got := o.refused("good"); got != "" {
		t.Errorf("good: %s", got)
	}
	if got := o.refused("bad"); !strings.HasPrefix(got, "422 ValidatingAdmissionPolicy 'b' with binding 'b' denied request: failed expression") {
		t.Errorf("bad: %s", got)
	}
	if len(o.warns) != 1 || !strings.Contains(o.warns[0], "ValidatingAdmissionPolicy 'a'") {
		t.Errorf("warned %q", o.warns)
	}
}

// TestCompiledOnce: a policy is compiled again when it changes, and not when something else does.
func TestCompiledOnce(t *testing.T) {
	o := newOffice(t)
	o.put(Validating, "", "p", noneCalled("bad"))
	o.bind("p", "")
	first := (*o.bound.Load())[0].compiled()
	o.put(Validating, "", "other", noneCalled("worse"))
	o.bind("other", "")
	if again := (*o.bound.Load())[1]; again.name != "p" || again.compiled() != first {
		t.Error("it was compiled again though nothing in it changed")
	}
	o.there[Validating]["p"] = o.there[Validating]["other"]
	o.Set(Validating, o.there[Validating])
	if (*o.bound.Load())[1].compiled() == first {
		t.Error("it was not compiled again though it changed")
	}
}

// TestNotUnderstood: what is stored and can't be understood is left out, told in the log, and in nobody's way.
func TestNotUnderstood(t *testing.T) {
	o := newOffice(t)
	o.put(Validating, "", "odd", "spec: {validations: 7}")
	o.put(Validating, "", "p", noneCalled("bad"))
	o.bind("odd", "")
	o.put(ValidatingBindings, "", "odder", "spec: 7")
	o.bind("p", "")
	if got := o.refused("good") + o.refused("bad"); !strings.Contains(got, "ValidatingAdmissionPolicy 'p'") {
		t.Errorf("received %q, expected that p is asked", got)
	}
	for _, want := range []string{"ignoring ValidatingAdmissionPolicy that cannot be decoded", "ignoring ValidatingAdmissionPolicyBinding that cannot be decoded"} {
		if !strings.Contains(o.log.String(), want) {
			t.Errorf("logged %s, expected %q", o.log.String(), want)
		}
	}
}

// TestReasons: the code that a client gets is that of the reason.
func TestReasons(t *testing.T) {
	for reason, code := range map[string]string{"Forbidden": "403", "Unauthorized": "401", "RequestEntityTooLarge": "413", "Invalid": "422", "Other": "422"} {
		o := newOffice(t)
		o.put(Validating, "", "p", spec(fmt.Sprintf(`validations: [{expression: 'false', reason: %s, message: "no, never"}]`, reason)))
		o.bind("p", "")
		if got, want := o.refused("a"), code+" ValidatingAdmissionPolicy 'p' with binding 'p' denied request: no, never"; got != want {
			t.Errorf("%s: received %q, expected %q", reason, got, want)
		}
	}
}

// TestProblems: what can't be told refuses, unless that is to be ignored; metrics tell why.
func TestProblems(t *testing.T) {
	for _, c := range []struct{ name, spec, refused, problem string }{
		{"does not hold", `validations: [{expression: 'false'}]`, "failed expression: false", "invalid_error"},
		{"does not compile", `validations: [{expression: 'nobody.knows'}]`, "compilation error", "compile_error"},
		{"fails", `validations: [{expression: 'object.none == 1'}]`, "no such key: none", "invalid_error"},
		{"an annotation fails", `auditAnnotations: [{key: k, valueExpression: 'string(object.none)'}]`, "no such key: none", "invalid_error"},
		{"a variable fails", "variables: [{name: v, expression: 'object.none'}]\n  validations: [{expression: 'variables.v == 1'}]", "no such key: none", "invalid_error"},
	} {
		for _, ignored := range []bool{false, true} {
			o := newOffice(t)
			text := c.spec
			if ignored {
				text += "\n  failurePolicy: Ignore"
			}
			o.put(Validating, "", "p", spec(text))
			o.bind("p", "")
			got := o.refused("a")
			if wants := !ignored || c.name == "does not hold"; wants != strings.Contains(got, c.refused) || !wants && got != "" {
				t.Errorf("%s, ignored %v: received %q", c.name, ignored, got)
			}
			if metric := `error_type="` + c.problem + `"`; got != "" && !strings.Contains(o.counted(), metric) {
				t.Errorf("%s: not counted as %s", c.name, metric)
			}
		}
	}
}

// TestParams: a binding's parameter is read as it is now, and what is wrong with it refuses.
func TestParams(t *testing.T) {
	const limits = "paramKind: {apiVersion: v1, kind: ConfigMap}\n  validations: [{expression: 'object.metadata.name != params.data.bad'}]"
	for _, c := range []struct{ name, params, binding, want string }{
		{"by name", limits, ", paramRef: {name: one}", "ValidatingAdmissionPolicy 'p' with binding 'p' denied request: failed expression"},
		{"elsewhere", limits, ", paramRef: {name: one, namespace: blue}", ""},
		{"selected", limits, ", paramRef: {selector: {matchLabels: {is: one}}}", "denied request: failed expression"},
		{"none, which is allowed", limits, ", paramRef: {name: none, parameterNotFoundAction: Allow}", ""},
		{"none, which is not", limits, ", paramRef: {name: none, parameterNotFoundAction: Deny}", "no params found for policy binding with `Deny` parameterNotFoundAction"},
		{"name and selector", limits, ", paramRef: {name: one, selector: {}}", "paramRef.name and paramRef.selector are mutually exclusive"},
		{"neither", limits, ", paramRef: {namespace: red}", "one of name or selector must be provided"},
		{"of the cluster", strings.ReplaceAll(limits, "ConfigMap", "Node"), ", paramRef: {name: one, namespace: red}", "paramRef.namespace must not be provided"},
		{"unknown", strings.ReplaceAll(limits, "ConfigMap", "Nothing"), ", paramRef: {name: one}", "failed to find resource referenced by paramKind"},
	} {
		o := newOffice(t)
		o.put("core/configmaps", "red", "one", "apiVersion: v1\nkind: ConfigMap\ndata: {bad: bad}")
		o.put("core/configmaps", "blue", "one", "apiVersion: v1\nkind: ConfigMap\ndata: {bad: other}")
		o.put(Validating, "", "p", spec(c.params))
		o.bind("p", c.binding)
		if got := o.refused("bad"); !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: received %q, expected %q", c.name, got, c.want)
		}
	}
}
