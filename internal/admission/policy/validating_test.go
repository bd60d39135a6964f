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

// The decisions of policies are compared with kube-apiserver by the scripts in applytest/scripts/admission. The tests of this
// file cover behaviour that clients cannot observe or provoke.

// kit is a test with the plugin under test, a store and a watch cache. It is also the admission.Reader of the plugin.
type kit struct {
	*testing.T
	*Policies
	store          storage.Store
	log            strings.Builder
	warns          []string
	configurations map[string]map[string]*watchcache.Object
}

func newKit(t *testing.T) *kit {
	t.Helper()
	register, err := api.NewRegister(api.Builtin()...)
	if err != nil {
		t.Fatal(err)
	}
	s := watchcachetest.OpenStore(t)
	o := &kit{T: t, store: s, configurations: map[string]map[string]*watchcache.Object{Mutating: {}, MutatingBindings: {}, Validating: {}, ValidatingBindings: {}}}
	o.Policies = New(Options{
		Cache: watchcachetest.OpenOn(t, s), Kinds: register, Metrics: metrics.New(), Log: slog.New(slog.NewTextHandler(&o.log, nil)),
		Authorizer: authorizer.AuthorizerFunc(func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
			return authorizer.DecisionNoOpinion, "", nil
		}),
	})
	return o
}

// put stores an object with a spec in YAML. If it is a policy or a binding, put configures the plugin with it.
func (o *kit) put(kind, namespace, name, spec string) {
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
	if o.configurations[kind] != nil {
		o.configurations[kind][name] = object
		o.Set(kind, o.configurations[kind])
	}
}

// bind creates a binding of a policy with the policy's name and the validationAction Deny. more is YAML that is added to its
// spec.
func (o *kit) bind(policy, more string) {
	o.Helper()
	o.put(ValidatingBindings, "", policy, fmt.Sprintf("spec: {policyName: %s, validationActions: [Deny]%s}", policy, more))
}

// Get implements admission.Reader. It returns a Namespace of any name.
func (o *kit) Get(_ context.Context, _ schema.GroupResource, _, name string) (admission.Object, error) {
	doc, err := document.ParseJSON(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"` + name + `"}}`)
	return admission.Object{Document: doc}, err
}

// List implements admission.Reader.
func (o *kit) List(context.Context, schema.GroupResource, string) ([]admission.Object, error) {
	return nil, nil
}

// wholeSource is an admission.Source whose objects have no managedFields.
type wholeSource struct{ admission.Source }

func (wholeSource) Options() runtime.Object                          { return &metav1.CreateOptions{} }
func (wholeSource) Whole(obj document.Value) (document.Value, error) { return obj, nil }
func (wholeSource) OldWhole() (document.Value, error)                { return document.Value{}, nil }

// attributes returns the Attributes of the creation of a ConfigMap in the namespace red.
func (o *kit) attributes(name string) *admission.Attributes {
	o.Helper()
	kind, ok := o.Kinds.Resource("", "v1", "configmaps")
	if !ok {
		o.Fatal("resource configmaps not found")
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

// denial returns the HTTP code and message with which the plugin denies the creation of a ConfigMap; "" if it is admitted.
func (o *kit) denial(name string) string {
	o.Helper()
	err := o.Validating().Validate(o.Context(), o.attributes(name))
	if err == nil {
		return ""
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		o.Fatalf("Validate() = %v, want an API status", err)
	}
	return fmt.Sprint(status.Status().Code, " ", status.Status().Details.Causes[0].Message)
}

func (o *kit) counted() string {
	answer := httptest.NewRecorder()
	o.Metrics.Handler().ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	text, _ := io.ReadAll(answer.Body)
	return string(text)
}

const configMapRules = `matchConstraints: {namespaceSelector: {}, objectSelector: {}, resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE]}]}`

func spec(more string) string { return "spec:\n  " + configMapRules + "\n  " + more }

func rejectingName(name string) string {
	return spec(fmt.Sprintf(`validations: [{expression: 'object.metadata.name != %q'}]`, name))
}

// TestHandles checks that the plugin handles only operations and resources that a bound policy matches.
func TestHandles(t *testing.T) {
	o := newKit(t)
	resource := o.attributes("a").Resource
	handles := func(o *kit, operation admission.Operation) bool {
		return o.Validating().Handles(operation, resource) != 0
	}
	if handles(o, admission.Create) {
		t.Error("Handles(CREATE) without policies: received a phase, want 0")
	}
	o.put(Validating, "", "p", rejectingName("bad"))
	if handles(o, admission.Create) {
		t.Error("Handles(CREATE) with a policy without a binding: received a phase, want 0")
	}
	o.bind("p", "")
	if !handles(o, admission.Create) || handles(o, admission.Update) {
		t.Error("Handles() with a bound policy: want a phase for CREATE, and 0 for UPDATE")
	}
	delete(o.configurations[Validating], "p")
	o.Set(Validating, o.configurations[Validating])
	if handles(o, admission.Create) {
		t.Error("Handles(CREATE) after the deletion of the policy: received a phase, want 0")
	}
}

// TestFirstDenial checks that all policies are evaluated in the order of their names, and that the client receives the first
// denial.
func TestFirstDenial(t *testing.T) {
	o := newKit(t)
	for _, name := range []string{"c", "a", "b"} {
		o.put(Validating, "", name, rejectingName("bad"))
	}
	o.put(ValidatingBindings, "", "a", "spec: {policyName: a, validationActions: [Warn]}")
	o.bind("b", "")
	o.bind("c", "")
	if got := o.denial("good"); got != "" {
		t.Errorf("denial(good) = %s, want none", got)
	}
	if got := o.denial("bad"); !strings.HasPrefix(got, "422 ValidatingAdmissionPolicy 'b' with binding 'b' denied request: failed expression") {
		t.Errorf("denial(bad) = %s, want the denial by policy b", got)
	}
	if len(o.warns) != 1 || !strings.Contains(o.warns[0], "ValidatingAdmissionPolicy 'a'") {
		t.Errorf("received warnings %q, want one from policy a", o.warns)
	}
}

// TestCompiledOnce checks that a policy is compiled again only after it changes.
func TestCompiledOnce(t *testing.T) {
	o := newKit(t)
	o.put(Validating, "", "p", rejectingName("bad"))
	o.bind("p", "")
	first := o.validating.load()[0].compiled()
	o.put(Validating, "", "other", rejectingName("worse"))
	o.bind("other", "")
	if again := o.validating.load()[1]; again.name != "p" || again.compiled() != first {
		t.Error("the policy was compiled again without a change")
	}
	o.configurations[Validating]["p"] = o.configurations[Validating]["other"]
	o.Set(Validating, o.configurations[Validating])
	if o.validating.load()[1].compiled() == first {
		t.Error("the policy was not compiled again after a change")
	}
}

// TestUndecodableConfigurations checks that policies and bindings that cannot be decoded are logged and ignored, and do not
// affect other policies.
func TestUndecodableConfigurations(t *testing.T) {
	o := newKit(t)
	o.put(Validating, "", "odd", "spec: {validations: 7}")
	o.put(Validating, "", "p", rejectingName("bad"))
	o.bind("odd", "")
	o.put(ValidatingBindings, "", "odder", "spec: 7")
	o.bind("p", "")
	if got := o.denial("good") + o.denial("bad"); !strings.Contains(got, "ValidatingAdmissionPolicy 'p'") {
		t.Errorf("received denials %q, want one by policy p", got)
	}
	for _, want := range []string{`"ignoring admission policy that cannot be decoded" kind=ValidatingAdmissionPolicy `, `"ignoring admission policy binding that cannot be decoded" kind=ValidatingAdmissionPolicyBinding `} {
		if !strings.Contains(o.log.String(), want) {
			t.Errorf("the log is %s, want %q", o.log.String(), want)
		}
	}
}

// TestReasons checks that the HTTP code of a denial follows from the reason of the failed validation.
func TestReasons(t *testing.T) {
	for reason, code := range map[string]string{"Forbidden": "403", "Unauthorized": "401", "RequestEntityTooLarge": "413", "Invalid": "422", "Other": "422"} {
		o := newKit(t)
		o.put(Validating, "", "p", spec(fmt.Sprintf(`validations: [{expression: 'false', reason: %s, message: "no, never"}]`, reason)))
		o.bind("p", "")
		if got, want := o.denial("a"), code+" ValidatingAdmissionPolicy 'p' with binding 'p' denied request: no, never"; got != want {
			t.Errorf("%s: denial() = %q, want %q", reason, got, want)
		}
	}
}

// TestEvaluationErrors checks that an expression that cannot be evaluated denies the request unless failurePolicy is Ignore,
// and that the metrics are labelled with the type of the error.
func TestEvaluationErrors(t *testing.T) {
	for _, c := range []struct{ name, spec, denial, errorType string }{
		{"false", `validations: [{expression: 'false'}]`, "failed expression: false", "invalid_error"},
		{"compilation error", `validations: [{expression: 'unknown.variable'}]`, "compilation error", "compile_error"},
		{"evaluation error", `validations: [{expression: 'object.none == 1'}]`, "no such key: none", "invalid_error"},
		{"evaluation error of an audit annotation", `auditAnnotations: [{key: k, valueExpression: 'string(object.none)'}]`, "no such key: none", "invalid_error"},
		{"evaluation error of a variable", "variables: [{name: v, expression: 'object.none'}]\n  validations: [{expression: 'variables.v == 1'}]", "no such key: none", "invalid_error"},
	} {
		for _, ignored := range []bool{false, true} {
			o := newKit(t)
			text := c.spec
			if ignored {
				text += "\n  failurePolicy: Ignore"
			}
			o.put(Validating, "", "p", spec(text))
			o.bind("p", "")
			got := o.denial("a")
			if denied := !ignored || c.name == "false"; denied != strings.Contains(got, c.denial) || !denied && got != "" {
				t.Errorf("%s, ignored %v: denial() = %q, want %q only if denied is %v", c.name, ignored, got, c.denial, denied)
			}
			if metric := `error_type="` + c.errorType + `"`; got != "" && !strings.Contains(o.counted(), metric) {
				t.Errorf("%s: metrics do not contain the label %s", c.name, metric)
			}
		}
	}
}

// TestParams checks that parameter objects are read when a request is evaluated, and that an invalid paramRef denies the
// request.
func TestParams(t *testing.T) {
	const limits = "paramKind: {apiVersion: v1, kind: ConfigMap}\n  validations: [{expression: 'object.metadata.name != params.data.bad'}]"
	for _, c := range []struct{ name, params, binding, want string }{
		{"by name", limits, ", paramRef: {name: one}", "ValidatingAdmissionPolicy 'p' with binding 'p' denied request: failed expression"},
		{"in another namespace", limits, ", paramRef: {name: one, namespace: blue}", ""},
		{"by selector", limits, ", paramRef: {selector: {matchLabels: {is: one}}}", "denied request: failed expression"},
		{"not found, Allow", limits, ", paramRef: {name: none, parameterNotFoundAction: Allow}", ""},
		{"not found, Deny", limits, ", paramRef: {name: none, parameterNotFoundAction: Deny}", "no params found for policy binding with `Deny` parameterNotFoundAction"},
		{"name and selector", limits, ", paramRef: {name: one, selector: {}}", "paramRef.name and paramRef.selector are mutually exclusive"},
		{"neither name nor selector", limits, ", paramRef: {namespace: red}", "one of name or selector must be provided"},
		{"cluster-scoped", strings.ReplaceAll(limits, "ConfigMap", "Node"), ", paramRef: {name: one, namespace: red}", "paramRef.namespace must not be provided"},
		{"unknown kind", strings.ReplaceAll(limits, "ConfigMap", "Nothing"), ", paramRef: {name: one}", "failed to find resource referenced by paramKind"},
	} {
		o := newKit(t)
		o.put("core/configmaps", "red", "one", "apiVersion: v1\nkind: ConfigMap\ndata: {bad: bad}")
		o.put("core/configmaps", "blue", "one", "apiVersion: v1\nkind: ConfigMap\ndata: {bad: other}")
		o.put(Validating, "", "p", spec(c.params))
		o.bind("p", c.binding)
		if got := o.denial("bad"); !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: denial() = %q, want %q", c.name, got, c.want)
		}
	}
}
