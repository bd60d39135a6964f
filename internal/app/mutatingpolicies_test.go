package app

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// mutatingPolicy returns a MutatingAdmissionPolicy for ConfigMaps. more is JSON that is added to its spec.
func mutatingPolicy(name, more string, expressions ...string) string {
	mutations := make([]string, len(expressions))
	for i, expression := range expressions {
		if strings.HasPrefix(expression, "[") {
			mutations[i] = fmt.Sprintf(`{"patchType":"JSONPatch","jsonPatch":{"expression":%q}}`, expression)
		} else {
			mutations[i] = fmt.Sprintf(`{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":%q}}`, expression)
		}
	}
	return fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"reinvocationPolicy":"Never",%s
		"matchConstraints":{"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"],"operations":["CREATE","UPDATE"]}]},
		"mutations":[%s]}}`, name, more, strings.Join(mutations, ","))
}

// addMutatingPolicy creates a policy and its binding.
func (c *client) addMutatingPolicy(policy string) {
	c.t.Helper()
	created := c.call("POST", registration+"mutatingadmissionpolicies", policy).want(201)
	name := created.get("metadata", "name")
	c.call("POST", registration+"mutatingadmissionpolicybindings", fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"policyName":%q}}`, name, name)).want(201)
}

const (
	testMaps     = "/api/v1/namespaces/default/configmaps"
	addLabel     = `Object{metadata: Object.metadata{labels: {"mutated": "yes"}}}`
	unsetSecret  = `Object{data: Object.data{secret: Object.data.secret{k8s_io__value: "unset"}}}`
	countPatches = `[JSONPatch{op: "add", path: "/data/count", value: has(object.data.count) ? object.data.count + "+" : "+"}]`
)

// TestMutatingPolicyIsImmediate checks that a policy is in effect for the first request after the creation of its binding is
// acknowledged, and not after its deletion.
func TestMutatingPolicyIsImmediate(t *testing.T) {
	c := start(t, Config{})
	for i := range 20 {
		c.addMutatingPolicy(mutatingPolicy("p", "", addLabel))
		c.call("POST", testMaps+"?dryRun=All", mapBody("c", `{}`)).want(201, `"mutated":"yes"`)
		resource := []string{"mutatingadmissionpolicies/p", "mutatingadmissionpolicybindings/p"}[i%2]
		c.call("DELETE", registration+resource, "").want(200)
		if got := c.call("POST", testMaps+"?dryRun=All", mapBody("c", `{}`)).want(201); strings.Contains(got.text, "mutated") {
			t.Fatalf("after the deletion of %s: received %s, want no label", resource, got.text)
		}
		c.call("DELETE", registration+[]string{"mutatingadmissionpolicybindings/p", "mutatingadmissionpolicies/p"}[i%2], "").want(200)
	}
}

// TestMutatingPoliciesAfterRestart checks that stored policies are in effect for the first request after a restart.
func TestMutatingPoliciesAfterRestart(t *testing.T) {
	folder := t.TempDir()
	server, err := Start(t.Context(), Config{Folder: folder, Address: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	first := clientOf(t, server)
	first.addMutatingPolicy(mutatingPolicy("p", "", addLabel))
	first.http.CloseIdleConnections()
	if err := server.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := start(t, Config{Folder: folder})
	c.call("POST", testMaps, mapBody("c", `{}`)).want(201, `"mutated":"yes"`)
}

// TestMutatingPolicyUnsetsWithoutTheGate checks that policies can unset fields even if the feature gate is disabled, that no
// field manager owns the absent fields, and that markers in requests are ordinary data.
func TestMutatingPolicyUnsetsWithoutTheGate(t *testing.T) {
	server, err := Start(t.Context(), Config{Address: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop(context.Background()) })
	c := clientOf(t, server)
	c.addMutatingPolicy(mutatingPolicy("p", "", unsetSecret))
	applied := c.call("PATCH", testMaps+"/c?fieldManager=alice", mapBody("c", `{"a":"1","secret":"s"}`), "Content-Type: application/apply-patch+yaml").want(201, `"data":{"a":"1"}`)
	if strings.Contains(applied.text, "secret") {
		t.Errorf("received %s, want neither the field secret nor an owner of it", applied.text)
	}
	c.call("PATCH", testMaps+"/c?fieldManager=alice", mapBody("c", `{"a":{"k8s_io__value":"unset"}}`), "Content-Type: application/apply-patch+yaml").want(400)
}

// TestMutatingPolicyUnsetsAScale checks that a policy that unsets the replicas of a Scale sets the default of the object, and
// removes the replicas from managedFields.
func TestMutatingPolicyUnsetsAScale(t *testing.T) {
	c := start(t, Config{})
	const deployment = "/apis/apps/v1/namespaces/default/deployments/d"
	c.call("PATCH", deployment+"?fieldManager=alice", `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":5,
		"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`,
		"Content-Type: application/apply-patch+yaml").want(201, `"f:replicas"`)
	policy := mutatingPolicy("p", "", `Object{spec: Object.spec{replicas: Object.spec.replicas{k8s_io__value: "unset"}}}`)
	c.addMutatingPolicy(strings.Replace(policy, `"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]`, `"apiGroups":["apps"],"apiVersions":["v1"],"resources":["deployments/scale"]`, 1))
	c.call("PATCH", deployment+"/scale?fieldManager=bob", `{"spec":{"replicas":9}}`, "Content-Type: "+mergeType).want(200, `"replicas":1`)
	if stored := c.call("GET", deployment, "").want(200, `"replicas":1`); strings.Contains(stored.text, "f:replicas") {
		t.Errorf("received %s, want no owner of the replicas", stored.text)
	}
}

// TestMutatingPolicyMetrics checks the metrics of mutations, which have Kubernetes' names.
func TestMutatingPolicyMetrics(t *testing.T) {
	c := start(t, Config{})
	c.addMutatingPolicy(mutatingPolicy("p", `"failurePolicy":"Ignore","matchConditions":[{"name":"a","expression":"object.metadata.name != 'skipped'"}],`,
		addLabel, `Object{data: {"a": object.data.none}}`))
	c.call("POST", testMaps, mapBody("c", `{}`)).want(201)
	c.call("POST", testMaps, mapBody("skipped", `{}`)).want(201)
	metrics := c.call("GET", "/metrics", "").want(200)
	for _, line := range []string{
		`apiserver_mutating_admission_policy_check_total{error_type="no_error",policy="p",policy_binding="p"} 1`,
		`apiserver_mutating_admission_policy_check_total{error_type="invalid_error",policy="p",policy_binding="p"} 1`,
		`apiserver_mutating_admission_policy_check_duration_seconds_count{error_type="no_error",policy="p",policy_binding="p"} 1`,
		`apiserver_admission_match_condition_exclusions_total{kind="policy",name="p",operation="CREATE",type="validate"} 1`,
	} {
		if !strings.Contains(metrics.text, line+"\n") {
			t.Errorf("/metrics does not contain the line %s", line)
		}
	}
}

// patchServer starts a mutating webhook that returns a JSON patch for each review. It appends the data of each object that it
// receives to received.
func patchServer(t *testing.T, patch string, received *[]map[string]string) *httptest.Server {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review struct {
			Request struct {
				UID    string
				Object struct{ Data map[string]string }
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
		}
		*received = append(*received, review.Request.Object.Data)
		fmt.Fprintf(w, `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":%q,"allowed":true,"patchType":"JSONPatch","patch":%q}}`,
			review.Request.UID, base64.StdEncoding.EncodeToString([]byte(patch)))
	}))
	t.Cleanup(server.Close)
	return server
}

// TestMutatingPoliciesAndWebhooks checks that policies are evaluated before mutating webhooks, and evaluated again after a webhook
// changed the object if their reinvocationPolicy is IfNeeded.
func TestMutatingPoliciesAndWebhooks(t *testing.T) {
	for _, test := range []struct {
		reinvocation string
		count        string // the number of evaluations, as plus signs
	}{{"Never", "+"}, {"IfNeeded", "++"}} {
		c := start(t, Config{})
		var received []map[string]string
		hook := patchServer(t, `[{"op":"add","path":"/data/hook","value":"x"}]`, &received)
		c.call("POST", registration+"mutatingwebhookconfigurations", configuration("MutatingWebhookConfiguration", hook.URL, hook.Certificate().Raw, "")).want(201)
		c.addMutatingPolicy(strings.Replace(mutatingPolicy("p", "", countPatches, `Object{data: {"seen": has(object.data.hook) ? "hook" : "nothing"}}`), "Never", test.reinvocation, 1))
		seen := map[string]string{"Never": "nothing", "IfNeeded": "hook"}[test.reinvocation]
		c.call("POST", testMaps, mapBody("c", `{}`)).want(201, `"data":{"count":"`+test.count+`","hook":"x","seen":"`+seen+`"}`)
		if len(received) != 1 || received[0]["count"] != "+" || received[0]["seen"] != "nothing" {
			t.Errorf("%s: the webhook received %v, want one call after the first evaluation of the policy", test.reinvocation, received)
		}
	}
}

// TestMutatingPolicyReinvokesWebhooks checks that a webhook with reinvocationPolicy IfNeeded is not called again for changes
// that policies made before its call.
func TestMutatingPolicyReinvokesWebhooks(t *testing.T) {
	c := start(t, Config{})
	var received []map[string]string
	hook := patchServer(t, `[]`, &received)
	c.call("POST", registration+"mutatingwebhookconfigurations", configuration("MutatingWebhookConfiguration", hook.URL, hook.Certificate().Raw, `"reinvocationPolicy":"IfNeeded",`)).want(201)
	c.addMutatingPolicy(mutatingPolicy("p", "", countPatches))
	c.call("POST", testMaps, mapBody("c", `{}`)).want(201, `"count":"+"`)
	if len(received) != 1 || received[0]["count"] != "+" {
		t.Errorf("the webhook received %v, want one call with the changed object", received)
	}
}

// TestMutatingPoliciesAtSeveralVersions checks that a policy receives the changes of other policies, even if they match the
// request at another version of the resource.
func TestMutatingPoliciesAtSeveralVersions(t *testing.T) {
	c := start(t, Config{})
	for _, test := range []struct{ name, version, expression string }{
		{"a", "v1", `Object{spec: Object.spec{targetCPUUtilizationPercentage: 70}}`},
		{"b", "v2", `Object{spec: Object.spec{maxReplicas: object.spec.metrics[0].resource.target.averageUtilization}}`},
		{"c", "v1", `Object{spec: Object.spec{minReplicas: object.spec.maxReplicas - 1}}`},
	} {
		policy := strings.Replace(mutatingPolicy(test.name, "", test.expression), `"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]`,
			`"apiGroups":["autoscaling"],"apiVersions":["`+test.version+`"],"resources":["horizontalpodautoscalers"]`, 1)
		c.addMutatingPolicy(policy)
	}
	c.call("POST", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers", `{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler",
		"metadata":{"name":"h"},"spec":{"maxReplicas":3,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"}}}`).
		want(201, `"maxReplicas":70`, `"averageUtilization":70`, `"minReplicas":69`)
}

// TestMutatingPolicyDoesNotRename checks that a policy cannot change the name of an object, because the user was authorized
// for the original name.
func TestMutatingPolicyDoesNotRename(t *testing.T) {
	c := start(t, Config{})
	c.addMutatingPolicy(mutatingPolicy("p", "", `Object{metadata: Object.metadata{name: "other"}}`))
	c.call("POST", testMaps, mapBody("c", `{}`)).want(422, "metadata.name")
	c.call("PATCH", testMaps+"/c?fieldManager=alice", mapBody("c", `{}`), "Content-Type: application/apply-patch+yaml").want(422, "metadata.name")
	for _, name := range []string{"c", "other"} {
		c.call("GET", testMaps+"/"+name, "").want(404)
	}
}

// TestMutatingPolicyOfABinding checks that policies change the bodies of create requests to subresources.
func TestMutatingPolicyOfABinding(t *testing.T) {
	c := start(t, Config{})
	policy := mutatingPolicy("p", "", `[JSONPatch{op: "replace", path: "/target/name", value: "other"}, JSONPatch{op: "add", path: "/metadata/labels", value: {"bound": "yes"}}]`)
	c.addMutatingPolicy(strings.Replace(policy, `"configmaps"`, `"pods/binding"`, 1))
	c.call("POST", pods, podBody("p", "")).want(201)
	c.call("POST", pods+"/p/binding", `{"apiVersion":"v1","kind":"Binding","metadata":{"name":"p"},"target":{"kind":"Node","name":"n"}}`).want(201)
	c.call("GET", pods+"/p", "").want(200, `"nodeName":"other"`, `"bound":"yes"`)
}

// TestMutatingPolicyCannotGrowWithoutLimit checks that mutations that double the size of an object are stopped when the object
// exceeds the maximum size of an object.
func TestMutatingPolicyCannotGrowWithoutLimit(t *testing.T) {
	c := start(t, Config{})
	expressions := make([]string, 40)
	for i := range expressions {
		expressions[i] = `[JSONPatch{op: "add", path: "/data/x", value: object.data.x + object.data.x}]`
	}
	c.addMutatingPolicy(mutatingPolicy("large", `"failurePolicy":"Ignore",`, expressions...))
	c.call("POST", testMaps, mapBody("d", `{"x":"`+strings.Repeat("x", 1000)+`"}`)).want(413, `after spec.mutations[11].jsonPatch.expression of policy \"large\", limit is 3145728`)
}

// TestUnsetSetByCreation checks that applying a configuration again is a no-op if a policy sets an unset field only when the object is
// created, also if another policy rejects the creation. Another manager removes the field.
func TestUnsetSetByCreation(t *testing.T) {
	c := start(t, Config{})
	onlyCreate := func(policy string) string { return strings.Replace(policy, `["CREATE","UPDATE"]`, `["CREATE"]`, 1) }
	c.addMutatingPolicy(onlyCreate(mutatingPolicy("p", "", `Object{data: {"policy": "x"}}`)))

	unset := mapBody("c", `{"a":"1","b":"2","policy":{"k8s_io__value":"unset"}}`)
	first := c.apply(testMaps+"/c", "alice", unset).want(201, `"data":{"a":"1","b":"2","policy":"x"}`)
	unchanged := func() {
		t.Helper()
		if again := c.apply(testMaps+"/c", "alice", unset).want(200); again.text != first.text {
			t.Errorf("applying the configuration again: received %s, want %s", again.text, first.text)
		}
	}
	unchanged()
	c.addMutatingPolicy(onlyCreate(mutatingPolicy("failing", "", `Object{data: {"x": object.data.none}}`)))
	c.apply(testMaps+"/d", "alice", mapBody("d", `{}`)).want(403)
	unchanged()
	c.apply(testMaps+"/c", "alice", mapBody("c", `{"a":"1","b":{"k8s_io__value":"unset"},"policy":{"k8s_io__value":"unset"}}`)).
		want(200, `"data":{"a":"1","policy":"x"}`)
	c.apply(testMaps+"/c", "bob&force=true", mapBody("c", `{"policy":{"k8s_io__value":"unset"}}`)).want(200, `"data":{"a":"1"}`)
}

// TestUnsetCallsNoWebhookForCreation checks that applying a configuration again calls webhooks only for the update. A field that a
// webhook sets at each write keeps its value, without a write; a field that it sets only at the creation is removed.
func TestUnsetCallsNoWebhookForCreation(t *testing.T) {
	for _, test := range []struct {
		operations string
		calls      int // of the first two applies
		data       string
	}{
		{`["CREATE","UPDATE"]`, 2, `{"a":"1","hook":"x"}`},
		{`["CREATE"]`, 1, `{"a":"1"}`},
	} {
		c := start(t, Config{})
		var received []map[string]string
		hook := patchServer(t, `[{"op":"add","path":"/data/hook","value":"x"}]`, &received)
		webhook := configuration("MutatingWebhookConfiguration", hook.URL, hook.Certificate().Raw, "")
		c.call("POST", registration+"mutatingwebhookconfigurations", strings.Replace(webhook, `["CREATE","UPDATE"]`, test.operations, 1)).want(201)

		unset := mapBody("c", `{"a":"1","hook":{"k8s_io__value":"unset"}}`)
		first := c.apply(testMaps+"/c", "alice", unset).want(201, `"data":{"a":"1","hook":"x"}`)
		second := c.apply(testMaps+"/c", "alice", unset).want(200, `"data":`+test.data)
		if len(received) != test.calls {
			t.Errorf("%s: the webhook received %v, want %d calls", test.operations, received, test.calls)
		}
		if again := c.apply(testMaps+"/c", "alice", unset).want(200); again.text != second.text || test.calls == 2 && second.text != first.text {
			t.Errorf("%s: received %s, %s and %s, want no further writes", test.operations, first.text, second.text, again.text)
		}
	}
}

// TestMutatingPolicyUnsetsSecretText checks that a policy that unsets a field of data or stringData removes it from both, also from
// their owners, and that it must not unset and set a field.
func TestMutatingPolicyUnsetsSecretText(t *testing.T) {
	const secrets = "/api/v1/namespaces/default/secrets"
	for _, test := range []struct{ expression, want string }{
		{`Object{data: Object.data{p: Object.data.p{k8s_io__value: "unset"}}}`, ""},
		{`Object{stringData: Object.stringData{p: Object.stringData.p{k8s_io__value: "unset"}}}`, ""},
		{`Object{data: Object.data{k8s_io__value: "unset"}}`, ""},
		{`Object{stringData: Object.stringData{k8s_io__value: "unset"}}`, ".stringData: expected values, received an unset marker"},
		{`Object{data: Object.data{p: Object.data.p{k8s_io__value: "unset"}}, stringData: {"p": "x"}}`, ".data.p: expected no unset marker beside the value of .stringData.p"},
		{`Object{data: Object.data{k8s_io__value: "unset"}, stringData: {"p": "x"}}`, ".data: expected no unset marker beside the value of .stringData.p"},
		{`Object{kind: Object.kind{k8s_io__value: "unset"}}`, ".kind: expected a value, received an unset marker"},
		{`Object{apiVersion: Object.apiVersion{k8s_io__value: "unset"}}`, ".apiVersion: expected a value, received an unset marker"},
		{`Object{metadata: Object.metadata{name: Object.metadata.name{k8s_io__value: "unset"}}}`, ".metadata.name: expected a value, received an unset marker"},
	} {
		c := start(t, Config{})
		c.addMutatingPolicy(strings.Replace(mutatingPolicy("p", "", test.expression), "configmaps", "secrets", 1))
		for range 2 {
			applied := c.apply(secrets+"/s", "alice", `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","labels":{"a":"b"}},"stringData":{"p":"1"}}`)
			if test.want != "" {
				applied.want(403, test.want)
				continue
			}
			if applied.code >= 300 || strings.Contains(applied.text, `"p":"`) || strings.Contains(applied.text, "f:p") || !strings.Contains(applied.text, "f:labels") {
				t.Errorf("%s: received %d %s, want neither the field p nor an owner of it", test.expression, applied.code, applied.text)
			}
		}
	}
}
