package app

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

const registration = "/apis/admissionregistration.k8s.io/v1/"

// hookServer starts a validating webhook that rejects objects with the data key "no". It returns the server and the number
// of calls.
func hookServer(t *testing.T) (server *httptest.Server, calls *atomic.Int32) {
	t.Helper()
	calls = &atomic.Int32{}
	server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		var review struct {
			Request struct {
				UID    string
				Object struct{ Data map[string]string }
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
		}
		_, no := review.Request.Object.Data["no"]
		fmt.Fprintf(w, `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":%q,"allowed":%v}}`, review.Request.UID, !no)
	}))
	t.Cleanup(server.Close)
	return server, calls
}

func configuration(kind, url string, certificate []byte, more string) string {
	bundle := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}))
	return fmt.Sprintf(`{"apiVersion":"admissionregistration.k8s.io/v1","kind":%q,"metadata":{"name":"h"},"webhooks":[{"name":"h.example.com",
		"clientConfig":{"url":%q,"caBundle":%q},"sideEffects":"None","admissionReviewVersions":["v1"],%s
		"rules":[{"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"],"operations":["CREATE","UPDATE"]}]}]}`, kind, url, bundle, more)
}

func mapBody(name, data string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q},"data":%s}`, name, data)
}

// TestWebhookConfigurationIsImmediate checks that a webhook configuration applies to the first request after its creation is
// acknowledged, and not after its deletion.
func TestWebhookConfigurationIsImmediate(t *testing.T) {
	c := start(t, Config{})
	hook, calls := hookServer(t)
	maps := "/api/v1/namespaces/default/configmaps"
	for i := range 20 {
		c.call("POST", registration+"validatingwebhookconfigurations", configuration("ValidatingWebhookConfiguration", hook.URL, hook.Certificate().Raw, "")).want(201)
		c.call("POST", maps, mapBody("c", `{"no":"1"}`)).want(400, `admission webhook \"h.example.com\" denied the request without explanation`)
		c.call("DELETE", registration+"validatingwebhookconfigurations/h", "").want(200)
		c.call("POST", maps+"?dryRun=All", mapBody("c", `{"no":"1"}`)).want(201)
		if got := int(calls.Load()); got != i+1 {
			t.Fatalf("the webhook was called %d times, want %d, once per matching request", got, i+1)
		}
	}
}

// TestWebhooksAfterRestart checks that stored webhook configurations apply to the first request after a restart.
func TestWebhooksAfterRestart(t *testing.T) {
	hook, _ := hookServer(t)
	folder := t.TempDir()
	server, err := Start(t.Context(), Config{Folder: folder, Address: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	first := clientOf(t, server)
	first.call("POST", registration+"mutatingwebhookconfigurations", configuration("MutatingWebhookConfiguration", hook.URL, hook.Certificate().Raw, "")).want(201)
	first.http.CloseIdleConnections()
	if err := server.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := start(t, Config{Folder: folder})
	c.call("POST", "/api/v1/namespaces/default/configmaps", mapBody("c", `{"no":"1"}`)).want(400, "denied the request")
	c.call("POST", "/api/v1/namespaces/default/configmaps", mapBody("c", `{"yes":"1"}`)).want(201)
}

// TestWebhookMetrics checks the metrics of webhook calls, which have Kubernetes' names.
func TestWebhookMetrics(t *testing.T) {
	c := start(t, Config{})
	hook, _ := hookServer(t)
	c.call("POST", registration+"mutatingwebhookconfigurations", configuration("MutatingWebhookConfiguration", hook.URL, hook.Certificate().Raw,
		`"matchConditions":[{"name":"a","expression":"object.metadata.name != 'skipped'"}],`)).want(201)
	c.call("POST", registration+"validatingwebhookconfigurations", configuration("ValidatingWebhookConfiguration", "https://127.0.0.1:1", hook.Certificate().Raw, `"failurePolicy":"Ignore",`)).want(201)
	maps := "/api/v1/namespaces/default/configmaps"
	c.call("POST", maps, mapBody("c", `{}`)).want(201)
	c.call("POST", maps, mapBody("d", `{"no":"1"}`)).want(400)
	c.call("POST", maps, mapBody("skipped", `{"no":"1"}`)).want(201)
	metrics := c.call("GET", "/metrics", "").want(200)
	for _, line := range []string{
		`apiserver_admission_webhook_request_total{code="200",name="h.example.com",operation="CREATE",rejected="false",type="admit"} 1`,
		`apiserver_admission_webhook_request_total{code="400",name="h.example.com",operation="CREATE",rejected="true",type="admit"} 1`,
		`apiserver_admission_webhook_rejection_count{error_type="no_error",name="h.example.com",operation="CREATE",rejection_code="400",type="admit"} 1`,
		`apiserver_admission_webhook_fail_open_count{name="h.example.com",type="validating"} 2`,
		`apiserver_admission_webhook_request_total{code="503",name="h.example.com",operation="CREATE",rejected="false",type="validating"} 2`,
		`apiserver_admission_webhook_admission_duration_seconds_count{name="h.example.com",operation="CREATE",rejected="false",type="admit"} 1`,
		`apiserver_admission_match_condition_exclusions_total{kind="webhook",name="h.example.com",operation="CREATE",type="admit"} 1`,
		`apiserver_admission_match_condition_evaluation_seconds_count{kind="webhook",name="h.example.com",operation="CREATE",type="admit"} 3`,
	} {
		if !strings.Contains(metrics.text, line+"\n") {
			t.Errorf("/metrics does not contain the line %s", line)
		}
	}
}

// TestPolicyMetrics checks the metrics of requests that a policy denies and audits.
func TestPolicyMetrics(t *testing.T) {
	c := start(t, Config{})
	c.call("POST", registration+"validatingadmissionpolicies", `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicy","metadata":{"name":"p"},"spec":{
		"matchConstraints":{"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"],"operations":["CREATE"]}]},"validations":[{"expression":"!has(object.data)"}]}}`).want(201)
	c.call("POST", registration+"validatingadmissionpolicybindings", `{"metadata":{"name":"b"},"spec":{"policyName":"p","validationActions":["Deny","Audit"]}}`).want(201)
	c.call("POST", "/api/v1/namespaces/default/configmaps", mapBody("c", `{"a":"b"}`)).want(422, "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: failed expression: !has(object.data)")
	metrics := c.call("GET", "/metrics", "").want(200)
	for _, action := range []string{"deny", "audit"} {
		line := `apiserver_validating_admission_policy_check_total{enforcement_action="` + action + `",error_type="invalid_error",policy="p",policy_binding="b"} 1`
		if !strings.Contains(metrics.text, line+"\n") {
			t.Errorf("/metrics does not contain the line %s", line)
		}
	}
}

// TestDeniedDeletions checks that a deletecollection fails if a policy denies the deletion of an object, and that this object
// is not deleted.
func TestDeniedDeletions(t *testing.T) {
	c := start(t, Config{})
	c.call("POST", registration+"validatingadmissionpolicies", `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicy","metadata":{"name":"p"},"spec":{
		"matchConstraints":{"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"],"operations":["DELETE"]}]},"validations":[{"expression":"oldObject.metadata.name != 'kept'","message":"kept"}]}}`).want(201)
	c.call("POST", registration+"validatingadmissionpolicybindings", `{"metadata":{"name":"b"},"spec":{"policyName":"p","validationActions":["Deny","Warn"]}}`).want(422, "must not contain both Deny and Warn")
	c.call("POST", registration+"validatingadmissionpolicybindings", `{"metadata":{"name":"b"},"spec":{"policyName":"p","validationActions":["Deny"]}}`).want(201)
	maps := "/api/v1/namespaces/default/configmaps"
	c.call("POST", maps, mapBody("kept", `{}`)).want(201)
	c.call("POST", maps, `{"metadata":{"name":"finalized","finalizers":["example.com/f"]}}`).want(201)
	c.call("DELETE", maps+"/kept", "").want(422, "kept")
	c.call("DELETE", maps+"/finalized", "").want(200, "deletionTimestamp")
	c.call("DELETE", maps, "").want(422, "kept")
	c.call("GET", maps+"/kept", "").want(200)
}

// TestPolicyOrder checks that, if several policies deny a request, the client receives the denial of the first policy in the
// order of their names.
func TestPolicyOrder(t *testing.T) {
	c := start(t, Config{})
	for _, name := range []string{"c", "a", "b"} {
		c.call("POST", registration+"validatingadmissionpolicies", fmt.Sprintf(`{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicy","metadata":{"name":%q},"spec":{
			"matchConstraints":{"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"],"operations":["CREATE"]}]},"validations":[{"expression":"false"}]}}`, name)).want(201)
		c.call("POST", registration+"validatingadmissionpolicybindings", fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"policyName":%q,"validationActions":["Deny"]}}`, name, name)).want(201)
	}
	c.call("POST", configMaps, mapBody("m", `{}`)).want(422, "ValidatingAdmissionPolicy 'a' with binding 'a' denied request")
}

// startRenamingWebhook starts a mutating webhook that changes metadata.name.
func startRenamingWebhook(t *testing.T) *httptest.Server {
	t.Helper()
	return startReplacingWebhook(t, "/metadata/name", `"another"`)
}

// startReplacingWebhook starts a mutating webhook that replaces the value at path, a JSON pointer, with value, a JSON text.
func startReplacingWebhook(t *testing.T, path, value string) *httptest.Server {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review struct{ Request struct{ UID string } }
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
		}
		patch := base64.StdEncoding.EncodeToString(fmt.Appendf(nil, `[{"op":"replace","path":%q,"value":%s}]`, path, value))
		fmt.Fprintf(w, `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":%q,"allowed":true,"patchType":"JSONPatch","patch":%q}}`, review.Request.UID, patch)
	}))
	t.Cleanup(server.Close)
	return server
}

// TestDifferenceWebhooksDoNotRename checks that a webhook cannot change metadata.name, because other webhooks have admitted
// the object under the name that the client sent.
func TestDifferenceWebhooksDoNotRename(t *testing.T) {
	c := start(t, Config{})
	c.call("POST", configMaps, mapBody("there", `{"a":"1"}`)).want(201)
	hook := startRenamingWebhook(t)
	c.call("POST", registration+"mutatingwebhookconfigurations", configuration("MutatingWebhookConfiguration", hook.URL, hook.Certificate().Raw, "")).want(201)
	c.call("POST", configMaps, mapBody("new", `{"a":"1"}`)).want(422, `metadata.name: Invalid value: \"another\": field is immutable`)
	c.call("PATCH", configMaps+"/there", `{"data":{"a":"2"}}`, "Content-Type: "+mergeType).want(422, "field is immutable")
	c.call("GET", configMaps+"/there", "").want(200, `"a":"1"`)
	c.call("GET", configMaps+"/another", "").want(404)
	c.call("GET", configMaps+"/new", "").want(404)
}

// TestWebhooksKeepKindAndNamespace checks that a webhook cannot change the kind or namespace of an object.
func TestWebhooksKeepKindAndNamespace(t *testing.T) {
	for _, test := range []struct {
		path, value string
		code        int
		text        string
	}{
		{"/kind", "Secret", 500, "a webhook or policy made v1 Secret of the object: expected v1 ConfigMap"},
		{"/apiVersion", "v2", 500, "a webhook or policy made v2 ConfigMap of the object: expected v1 ConfigMap"},
		{"/metadata/namespace", "elsewhere", 400, "the namespace of the provided object does not match the namespace sent on the request"},
	} {
		t.Run(test.path, func(t *testing.T) {
			c := start(t, Config{})
			c.call("POST", configMaps, mapBody("there", `{"a":"1"}`)).want(201)
			hook := startReplacingWebhook(t, test.path, fmt.Sprintf("%q", test.value))
			c.call("POST", registration+"mutatingwebhookconfigurations", configuration("MutatingWebhookConfiguration", hook.URL, hook.Certificate().Raw, "")).want(201)
			c.call("POST", configMaps, mapBody("new", `{"a":"1"}`)).want(test.code, test.text)
			c.call("PATCH", configMaps+"/there", `{"data":{"a":"2"}}`, "Content-Type: "+mergeType).want(test.code, test.text)
			c.call("GET", configMaps+"/there", "").want(200, `"kind":"ConfigMap"`, `"a":"1"`)
			c.call("GET", configMaps+"/new", "").want(404)
		})
	}
}

// TestWebhooksAndCustomResources checks that a custom resource that a webhook returns is validated by its schema, including
// nulls, and that a webhook cannot change the kind of a Scale.
func TestWebhooksAndCustomResources(t *testing.T) {
	for _, test := range []struct {
		resource, path, value string
		code                  int
		text                  string
	}{
		{"widgets", "/spec", "null", 422, `Widget.example.com \"a\" is invalid: spec: Invalid value: \"null\": spec in body must be of type object: \"null\"`},
		{"widgets", "/kind", `"Gadget"`, 422, `Gadget.example.com \"a\" is invalid: kind: Invalid value: \"Gadget\": must be Widget`},
		{"widgets", "/kind", `""`, 500, "a webhook or policy made example.com/v1  of the object: expected example.com/v1 Widget"},
		{"widgets", "/apiVersion", `"example.com/v9"`, 500, "request to convert CR from an invalid group/version: example.com/v9"},
		{"widgets", "/metadata/labels", "5", 500, "labels: expected a map, received 5"},
		{"widgets/scale", "/kind", `"Other"`, 500, "a webhook or policy made autoscaling/v1 Other of the object: expected autoscaling/v1 Scale"},
		{"widgets/scale", "/apiVersion", `"autoscaling/v2"`, 500, "a webhook or policy made autoscaling/v2 Scale of the object: expected autoscaling/v1 Scale"},
		{"widgets/scale", "/kind", `""`, 500, "a webhook or policy made autoscaling/v1  of the object: expected autoscaling/v1 Scale"},
	} {
		t.Run(test.resource+test.path, func(t *testing.T) {
			c := start(t, Config{})
			c.call("POST", definitions, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Cluster",
				"names":{"plural":"widgets","kind":"Widget"},"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}},
				"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"replicas":{"type":"integer"}}}}}}}]}}`).want(201)
			c.waitFor(definitions+"/widgets.example.com", 200, `"InitialNamesAccepted"`)
			c.call("POST", atV1, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"replicas":1}}`).want(201)
			hook := startReplacingWebhook(t, test.path, test.value)
			configured := toWidgetRules.Replace(configuration("MutatingWebhookConfiguration", hook.URL, hook.Certificate().Raw, ""))
			c.call("POST", registration+"mutatingwebhookconfigurations", strings.Replace(configured, `"widgets"`, `"`+test.resource+`"`, 1)).want(201)
			path := atV1 + "/a" + strings.TrimPrefix(test.resource, "widgets")
			c.call("PATCH", path, `{"spec":{"replicas":2}}`, "Content-Type: "+mergeType).want(test.code, test.text)
			c.call("GET", atV1+"/a", "").want(200, `"replicas":1`)
		})
	}
}

// toWidgetRules replaces the resource configmaps in a webhook configuration with widgets.
var toWidgetRules = strings.NewReplacer(`"apiGroups":[""]`, `"apiGroups":["example.com"]`, `"configmaps"`, `"widgets"`)

// TestDifferenceUnknownFieldsOfWebhooksAreNoChange checks that unknown fields that a webhook sets are dropped before the
// object is compared with the stored object, so that unknown fields do not turn a no-op into a write.
func TestDifferenceUnknownFieldsOfWebhooksAreNoChange(t *testing.T) {
	c := start(t, Config{})
	c.defineUnconverted()
	hook := startReplacingWebhook(t, "/spec", `{"unknown":true}`)
	c.makeWidget("a", "")
	c.call("POST", registration+"mutatingwebhookconfigurations", toWidgetRules.Replace(configuration("MutatingWebhookConfiguration", hook.URL, hook.Certificate().Raw, ""))).want(201)
	first := c.call("PATCH", atV1+"/a", `{"metadata":{"labels":{"a":"1"}}}`, "Content-Type: "+mergeType).want(200, `"generation":1,`)
	again := c.call("PATCH", atV1+"/a", `{"metadata":{"labels":{"a":"1"}}}`, "Content-Type: "+mergeType).want(200)
	if first.text != again.text || strings.Contains(again.text, "unknown") {
		t.Errorf("repeated patch: received %s, want the unchanged %s without the unknown field", again.text, first.text)
	}
}

// TestConversionFailureIsNotIgnored checks that a write is rejected if the object cannot be converted to the version that a
// webhook requires, even if the failurePolicy of the webhook is Ignore.
func TestConversionFailureIsNotIgnored(t *testing.T) {
	for _, kind := range []string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"} {
		t.Run(kind, func(t *testing.T) {
			c := start(t, Config{})
			c.defineUnconverted()
			hook, calls := hookServer(t)
			atTwo := strings.NewReplacer(`"apiVersions":["v1"]`, `"apiVersions":["v2"]`)
			c.call("POST", registration+strings.ToLower(kind)+"s", atTwo.Replace(toWidgetRules.Replace(configuration(kind, hook.URL, hook.Certificate().Raw, `"failurePolicy":"Ignore",`)))).want(201)
			c.call("POST", atV1, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"}}`).want(500, "conversion webhook for example.com/v1, Kind=Widget failed: Post")
			c.call("GET", atV1+"/a", "").want(404)
			if calls.Load() != 0 {
				t.Errorf("the webhook was called for an object that cannot be converted, want no call")
			}
		})
	}
}

// TestWebhooksAdmitReviews checks that access reviews, which are not stored, are admitted by webhooks but not by policies,
// as in Kubernetes.
func TestWebhooksAdmitReviews(t *testing.T) {
	const reviews = "/apis/authorization.k8s.io/v1/"
	question := `{"apiVersion":"authorization.k8s.io/v1","kind":"%s","spec":{"user":"joe","resourceAttributes":{"verb":"get","resource":"pods","namespace":"default"}}}`
	c := start(t, Config{})
	hook := startReplacingWebhook(t, "/spec/user", `"jane"`)
	ofReviews := strings.NewReplacer(`"apiGroups":[""]`, `"apiGroups":["authorization.k8s.io"]`, `"configmaps"`, `"subjectaccessreviews","localsubjectaccessreviews"`)
	c.call("POST", registration+"mutatingwebhookconfigurations", ofReviews.Replace(configuration("MutatingWebhookConfiguration", hook.URL, hook.Certificate().Raw, ""))).want(201)
	c.call("POST", registration+"validatingadmissionpolicies", `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicy","metadata":{"name":"p"},"spec":{
		"matchConstraints":{"resourceRules":[{"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"operations":["CREATE"]}]},"validations":[{"expression":"object.kind.endsWith('Configuration')"}]}}`).want(201)
	c.call("POST", registration+"validatingadmissionpolicybindings", `{"metadata":{"name":"p"},"spec":{"policyName":"p","validationActions":["Deny"]}}`).want(201)
	c.call("POST", configMaps, mapBody("m", `{}`)).want(422, "denied request") // the policy applies to ConfigMaps, but not to the reviews below
	c.call("POST", reviews+"subjectaccessreviews", fmt.Sprintf(question, "SubjectAccessReview")).want(201, `"user":"jane"`, `"allowed":false`)
	// The namespace of a LocalSubjectAccessReview does not have to exist.
	c.call("POST", reviews+"namespaces/nowhere/localsubjectaccessreviews", strings.Replace(fmt.Sprintf(question, "LocalSubjectAccessReview"), "default", "nowhere", 1)).want(201, `"user":"jane"`)

	gone := strings.Replace(ofReviews.Replace(configuration("ValidatingWebhookConfiguration", "https://127.0.0.1:1/", hook.Certificate().Raw, "")), `"localsubjectaccessreviews"`, `"selfsubjectaccessreviews"`, 1)
	c.call("POST", registration+"validatingwebhookconfigurations", gone).want(201)
	for resource, kind := range map[string]string{"subjectaccessreviews": "SubjectAccessReview", "selfsubjectaccessreviews": "SelfSubjectAccessReview"} {
		c.call("POST", reviews+resource, strings.Replace(fmt.Sprintf(question, kind), `"user":"joe",`, "", 1)).want(500, `failed calling webhook \"h.example.com\"`)
	}
}
