package admission

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/yaml"

	"github.com/cadastre/cadastre/internal/lib/testwait"
	"github.com/cadastre/cadastre/test/clients/target"
)

// testCase is a test case: webhooks to install, and requests, one per line in the form VERB PATH BODY. A path is
// relative to the namespace of the test case unless it begins with a slash.
type testCase struct {
	name  string
	hooks []hook
	steps string
}

// hook is a webhook with a webhook configuration of its own. name begins with m for a mutating or v for a validating
// webhook, path selects the behaviour of the webhook server (see behaviours), and more contains further fields of the
// webhook as YAML, which override the defaults of install.
type hook struct{ name, path, more string }

const (
	registration = "/apis/admissionregistration.k8s.io/v1/"
	onConfigMaps = "rules: [{apiGroups: [''], apiVersions: [v1], resources: [configmaps], operations: ['*']}]"
)

func TestWebhooks(t *testing.T) {
	for _, test := range testCases {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, newEnvironment(t))
		})
	}
}

// environment is the environment of one test case: the API server, which all test cases share, and a namespace and a
// webhook server of its own.
type environment struct {
	server
	webhook   *webhook
	namespace string
}

func newEnvironment(t *testing.T) environment {
	t.Helper()
	env := environment{connect(t), startWebhook(t), "admission-" + rand.String(8)}
	if a := env.call(t, "POST", "/api/v1/namespaces", fmt.Sprintf(`{"metadata":{"name":%q}}`, env.namespace)); a.code != 201 {
		t.Fatalf("POST of the namespace = status %d %s, want 201", a.code, a.body)
	}
	return env
}

func (test testCase) run(t *testing.T, env environment) {
	s, w, namespace := env.server, env.webhook, env.namespace
	log := &transcript{replacer: strings.NewReplacer(namespace, "NAMESPACE", w.URL, "URL")}
	namespacePath := "/namespaces/" + namespace + "/"
	for _, h := range test.hooks {
		h.install(t, s, w, namespace)
	}
	w.take()
	for line := range strings.Lines(test.steps) {
		words := strings.SplitN(strings.TrimSpace(line), " ", 3)
		if len(words) < 2 {
			continue
		}
		body := ""
		if len(words) == 3 {
			body = words[2]
		}
		path := strings.ReplaceAll(words[1], "NAMESPACE", namespace)
		if group, rest, ok := strings.Cut(path, ":"); ok {
			path = "/apis/" + group + namespacePath + rest
		} else if !strings.HasPrefix(path, "/") {
			path = "/api/v1" + namespacePath + path
		}
		a := s.call(t, words[0], path, strings.ReplaceAll(body, "NAMESPACE", namespace))
		log.add(strings.TrimSpace(line), w.take(), a)
	}
	log.check(t)
}

// install creates the webhook configuration of h, and waits until the server calls it. The configuration is deleted at
// the end of the test.
func (h hook) install(t *testing.T, s server, w *webhook, namespace string) {
	t.Helper()
	kind, resource := "MutatingWebhookConfiguration", "mutatingwebhookconfigurations"
	if strings.HasPrefix(h.name, "v") {
		kind, resource = "ValidatingWebhookConfiguration", "validatingwebhookconfigurations"
	}
	webhook := map[string]any{
		"name": h.name + ".example.com", "sideEffects": "None", "admissionReviewVersions": []string{"v1"},
		"clientConfig":      map[string]any{"url": w.URL + h.path, "caBundle": w.bundle()},
		"namespaceSelector": map[string]any{"matchLabels": map[string]any{"kubernetes.io/metadata.name": namespace}},
		"matchConditions":   []any{},
	}
	more := map[string]any{}
	if err := yaml.Unmarshal([]byte(onConfigMaps), &more); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(strings.NewReplacer("URL", w.URL, "NAMESPACE", namespace).Replace(h.more)), &more); err != nil {
		t.Fatal(err)
	}
	for name, value := range more {
		webhook[name] = value
	}
	name := namespace + "-" + h.name
	text, err := json.Marshal(map[string]any{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": map[string]any{"name": name}, "webhooks": []any{webhook},
	})
	if err != nil {
		t.Fatal(err)
	}
	if a := s.call(t, "POST", registration+resource, string(text)); a.code != 201 {
		t.Fatalf("POST of %s = status %d %s, want 201", name, a.code, a.body)
	}
	t.Cleanup(func() { s.call(t, "DELETE", registration+resource+"/"+name, "") })
	s.wait(t, w, namespace, kind, resource)
}

// wait returns when the server has observed all webhook configurations of the given kind that have been created so far.
// kube-apiserver observes configurations in the order of their creation, but some time after it has responded to the
// creation. Therefore wait creates a further configuration, the sentinel: when its webhook denies a request, all
// earlier webhooks are active too.
func (s server) wait(t *testing.T, w *webhook, namespace, kind, resource string) {
	t.Helper()
	if target.Implementation() == target.Cadastre {
		return // in Cadastre a configuration is active when its write is acknowledged
	}
	name := namespace + "-sentinel"
	s.call(t, "POST", registration+resource, fmt.Sprintf(`{"apiVersion":"admissionregistration.k8s.io/v1","kind":%q,"metadata":{"name":%q},"webhooks":[{
		"name":"sentinel.example.com","sideEffects":"None","admissionReviewVersions":["v1"],"clientConfig":{"url":%q,"caBundle":%q},
		"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":%q}},
		"rules":[{"apiGroups":[""],"apiVersions":["v1"],"resources":["secrets"],"operations":["CREATE"]}]}]}`,
		kind, name, w.URL+"/deny", w.bundle(), namespace))
	defer s.call(t, "DELETE", registration+resource+"/"+name, "")
	testwait.For(t, "the server to call the webhook", func() bool {
		a := s.call(t, "POST", "/api/v1/namespaces/"+namespace+"/secrets?dryRun=All", `{"metadata":{"name":"sentinel"}}`)
		return strings.Contains(a.body, "sentinel.example.com")
	})
}

const configMap = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"1"}}`

// testCases lists the test cases for built-in resources.
var testCases = []testCase{
	{"mutate", []hook{{"m", "/x", ""}}, `
		POST configmaps ` + configMap + `
		PUT configmaps/c?fieldManager=other {"metadata":{"name":"c"},"data":{"a":"2"}}
		MERGE configmaps/c?fieldValidation=Strict {"data":{"b":"1"}}
		MERGE configmaps/c {"data":{"b":"1"}}
		JSONPATCH configmaps/c?dryRun=All [{"op":"remove","path":"/data/b"}]
		DELETE configmaps/c?gracePeriodSeconds=1`},
	{"mutate apply", []hook{{"m", "/x", ""}}, `
		APPLY configmaps/c?fieldManager=alice ` + configMap + `
		APPLY configmaps/c?fieldManager=alice ` + configMap + `
		APPLY configmaps/c?fieldManager=bob {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"x":"2"}}
		APPLY configmaps/c?fieldManager=bob&force=true {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"x":"2"}}
		APPLY configmaps/c?fieldManager=alice {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"x":"3"}}
		PUT configmaps/c?fieldManager=carol {"metadata":{"name":"c"},"data":{"x":"1"}}`},
	{"validate", []hook{{"v", "/allow/warn/audit", ""}}, `
		POST configmaps ` + configMap + `
		POST configmaps ` + `{"metadata":{"generateName":"generated-"}}` + `
		PUT configmaps/c {"metadata":{"name":"c"},"data":{"a":"2"}}
		PUT configmaps/c {"metadata":{"name":"c"},"data":{"a":"2"}}
		APPLY configmaps/c?fieldManager=alice ` + configMap + `
		DELETE configmaps/c {"propagationPolicy":"Background","preconditions":{"uid":"none"}}
		DELETE configmaps/c {"propagationPolicy":"Background"}`},
	{"generated names", []hook{{"m", "/x", ""}}, `
		POST configmaps {"metadata":{"generateName":"generated-"},"data":{"a":"1"}}`},
	{"deny", []hook{{"v", "/deny", ""}}, `
		POST configmaps ` + configMap + `
		APPLY configmaps/c?fieldManager=alice ` + configMap + `
		POST configmaps?dryRun=All ` + configMap},
	{"deny after others allow", []hook{{"v1", "/allow", ""}, {"v2", "/deny/why", ""}, {"v3", "/allow", ""}}, `
		POST configmaps ` + configMap},
	{"deny with a message", []hook{{"v", "/deny/why", ""}}, `
		POST configmaps ` + configMap},
	{"deny with a code", []hook{{"m", "/deny/teapot", ""}}, `
		POST configmaps ` + configMap},
	{"deny with a reason", []hook{{"m", "/deny/reason/warn", ""}}, `
		POST configmaps ` + configMap},
	{"deny deletion", []hook{{"v", "/deny/why", "rules: [{apiGroups: [''], apiVersions: [v1], resources: [configmaps], operations: [DELETE]}]"}}, `
		POST configmaps ` + configMap + `
		DELETE configmaps/c
		DELETE configmaps/d
		DELETE configmaps?labelSelector=none
		DELETE configmaps?fieldSelector=metadata.name=c`},
	{"mutate on delete", []hook{{"m", "/x", "rules: [{apiGroups: [''], apiVersions: [v1], resources: [configmaps], operations: [DELETE]}]"}}, `
		POST configmaps ` + configMap + `
		DELETE configmaps/c`},
	{"response with other uid", []hook{{"v", "/otheruid", ""}}, `
		POST configmaps ` + configMap},
	{"response with other kind", []hook{{"v", "/otherkind", ""}}, `
		POST configmaps ` + configMap},
	{"no response", []hook{{"v", "/noanswer", ""}}, `
		POST configmaps ` + configMap},
	{"response is not JSON", []hook{{"v", "/nojson", ""}}, `
		POST configmaps ` + configMap},
	{"response without type", []hook{{"v", "/untyped", ""}}, `
		POST configmaps ` + configMap},
	{"status 500", []hook{{"v", "/broken", ""}}, `
		POST configmaps ` + configMap},
	{"status 404", []hook{{"m", "/missing", ""}}, `
		POST configmaps ` + configMap},
	{"failures are ignored", []hook{{"m", "/broken", "failurePolicy: Ignore"}, {"v", "/nojson", "failurePolicy: Ignore"}}, `
		POST configmaps ` + configMap},
	{"denials are not ignored", []hook{{"v", "/deny", "failurePolicy: Ignore"}}, `
		POST configmaps ` + configMap},
	{"validating webhook with patch", []hook{{"v", "/x", ""}}, `
		POST configmaps ` + configMap},
	{"patch without type", []hook{{"m", "/notype", ""}}, `
		POST configmaps ` + configMap},
	{"type without patch", []hook{{"m", "/nopatch", ""}}, `
		POST configmaps ` + configMap},
	{"unsupported patch type", []hook{{"m", "/otherpatch", ""}}, `
		POST configmaps ` + configMap},
	{"undecodable patch", []hook{{"m", "/undecodable", ""}}, `
		POST configmaps ` + configMap},
	{"patch of absent path", []hook{{"m", "/nowhere", "failurePolicy: Ignore"}}, `
		POST configmaps ` + configMap},
	{"unknown fields", []hook{{"m", "/unknown", ""}}, `
		POST configmaps?fieldValidation=Strict ` + configMap},
	{"invalid after mutation", []hook{{"m", "/wrong", ""}}, `
		POST configmaps ` + configMap},
	{"empty patch", []hook{{"m", "/nothing", ""}}, `
		POST configmaps ` + configMap},
	{"timeout", []hook{{"v", "/slow", "timeoutSeconds: 3"}}, `
		POST configmaps ` + configMap},
	{"timeout is ignored", []hook{{"m", "/slow", "{timeoutSeconds: 3, failurePolicy: Ignore}"}}, `
		POST configmaps ` + configMap},
	{"untrusted certificate", []hook{{"v", "/allow", "clientConfig: {url: URL/allow}"}}, `
		POST configmaps ` + configMap},
	{"connection refused", []hook{{"v", "/allow", "clientConfig: {url: 'https://127.0.0.1:1/allow'}"}}, `
		POST configmaps ` + configMap},
	{"side effects", []hook{{"m", "/x", "sideEffects: NoneOnDryRun"}, {"v", "/allow", "{sideEffects: None}"}}, `
		POST configmaps?dryRun=All ` + configMap},
	{"v1beta1 reviews", []hook{{"m", "/x", "admissionReviewVersions: [v7, v1beta1, v1]"}}, `
		POST configmaps ` + configMap},
	{"order", []hook{{"m2", "/x/2", ""}, {"m1", "/x/1", ""}, {"m3", "/x/3", ""}, {"v1", "/allow/1", ""}, {"v2", "/allow/2", ""}}, `
		POST configmaps ` + configMap},
	{"reinvocation", []hook{{"m1", "/nothing/again", "reinvocationPolicy: IfNeeded"}, {"m2", "/count", "reinvocationPolicy: IfNeeded"}, {"m3", "/x", ""}, {"m4", "/nothing", "reinvocationPolicy: IfNeeded"}}, `
		POST configmaps ` + configMap},
	{"no reinvocation", []hook{{"m1", "/count/never", ""}, {"m2", "/nothing", "reinvocationPolicy: IfNeeded"}}, `
		POST configmaps ` + configMap},
	{"object selector", []hook{{"m", "/x", "objectSelector: {matchLabels: {mine: 'yes'}}"}}, `
		POST configmaps ` + configMap + `
		MERGE configmaps/c {"metadata":{"labels":{"mine":"yes"}}}
		MERGE configmaps/c {"metadata":{"labels":{"mine":null}}}
		MERGE configmaps/c {"data":{"b":"1"}}`},
	{"match conditions", []hook{{"m", "/x", "matchConditions: [{name: a, expression: 'object.data.a == \"1\"'}, {name: user, expression: 'request.userInfo.username != \"\" && request.operation == \"CREATE\"'}]"}}, `
		POST configmaps ` + configMap + `
		POST configmaps {"metadata":{"name":"d"},"data":{"a":"2"}}
		POST configmaps {"metadata":{"name":"e"}}
		MERGE configmaps/c {"data":{"b":"1"}}`},
	{"failing match condition is ignored", []hook{{"v", "/deny", "{failurePolicy: Ignore, matchConditions: [{name: a, expression: 'object.data.a == \"1\"'}]}"}}, `
		POST configmaps {"metadata":{"name":"e"}}
		POST configmaps ` + configMap},
	{"one match condition is false", []hook{{"v", "/deny", "matchConditions: [{name: a, expression: 'object.data.a == \"1\"'}, {name: b, expression: 'false'}]"}}, `
		POST configmaps {"metadata":{"name":"e"}}`},
	{"match condition with authorizer", []hook{{"v", "/deny", "matchConditions: [{name: a, expression: '!authorizer.group(\"\").resource(\"secrets\").check(\"get\").allowed()'}]"}}, `
		POST configmaps ` + configMap},
	{"webhook adds managed fields", []hook{{"m", "/own", ""}}, `
		POST configmaps?fieldManager=alice ` + configMap + `
		APPLY configmaps/c?fieldManager=bob {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"hooked":"no"}}`},
	{"webhook removes managed fields", []hook{{"m", "/disown", ""}}, `
		POST configmaps?fieldManager=alice ` + configMap + `
		APPLY configmaps/c?fieldManager=bob {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"hooked":"no"}}`},
	{"webhook sets invalid managed fields", []hook{{"m", "/misown", ""}}, `
		POST configmaps?fieldManager=alice ` + configMap},
	{"equivalent versions", []hook{{"v", "/allow", "rules: [{apiGroups: [autoscaling], apiVersions: [v1], resources: [horizontalpodautoscalers], operations: ['*']}]"}}, `
		POST autoscaling/v2:horizontalpodautoscalers {"metadata":{"name":"h"},"spec":{"maxReplicas":3,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"}}}
		POST autoscaling/v1:horizontalpodautoscalers {"metadata":{"name":"i"},"spec":{"maxReplicas":3,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"}}}`},
	{"exact versions", []hook{{"v", "/deny", "{matchPolicy: Exact, rules: [{apiGroups: [autoscaling], apiVersions: [v1], resources: [horizontalpodautoscalers], operations: ['*']}]}"}}, `
		POST autoscaling/v2:horizontalpodautoscalers {"metadata":{"name":"h"},"spec":{"maxReplicas":3,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"}}}
		POST autoscaling/v1:horizontalpodautoscalers {"metadata":{"name":"i"},"spec":{"maxReplicas":3,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"}}}`},
	{"defaults after mutation", []hook{{"m", "/port", "rules: [{apiGroups: [''], apiVersions: [v1], resources: [services], operations: [CREATE]}]"}}, `
		POST services {"metadata":{"name":"s"},"spec":{"type":"ExternalName","externalName":"example.com","ports":[{"name":"one","port":80}]}}`},
	{"defaults between mutations", []hook{
		{"m1", "/port", "rules: [{apiGroups: [''], apiVersions: [v1], resources: [services], operations: [CREATE]}]"},
		{"m2", "/nothing", "rules: [{apiGroups: [''], apiVersions: [v1], resources: [services], operations: [CREATE]}]"},
	}, `
		POST services {"metadata":{"name":"s"},"spec":{"type":"ExternalName","externalName":"example.com","ports":[{"name":"one","port":80}]}}`},
	{"subresources", []hook{{"v", "/allow", "rules: [{apiGroups: [apps], apiVersions: [v1], resources: ['replicasets/*'], operations: ['*']}]"}}, `
		POST apps/v1:replicasets {"metadata":{"name":"r"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}
		MERGE apps/v1:replicasets/r/status {"status":{"replicas":1}}
		PUT apps/v1:replicasets/r/scale {"metadata":{"name":"r"},"spec":{"replicas":3}}`},
	{"mutate scale", []hook{{"m", "/scale", "rules: [{apiGroups: [apps], apiVersions: [v1], resources: ['replicasets/scale'], operations: ['*']}]"}}, `
		POST apps/v1:replicasets {"metadata":{"name":"r"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}
		MERGE apps/v1:replicasets/r/scale {"spec":{"replicas":3}}
		GET apps/v1:replicasets/r`},
	{"scopes", []hook{{"v", "/deny", "rules: [{apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], operations: ['*'], scope: Cluster}]"}}, `
		POST configmaps ` + configMap + `
		MERGE /api/v1/namespaces/NAMESPACE {"metadata":{"labels":{"a":"b"}}}`},
	{"namespaces", []hook{{"m", "/nothing", "{objectSelector: {}, rules: [{apiGroups: [''], apiVersions: [v1], resources: [namespaces], operations: [UPDATE]}]}"}}, `
		MERGE /api/v1/namespaces/NAMESPACE {"metadata":{"labels":{"a":"b"}}}`},
	{"webhook sets resourceVersion", []hook{{"m", "/version", ""}}, `
		POST configmaps ` + configMap + `
		APPLY configmaps/c?fieldManager=alice ` + configMap + `
		MERGE configmaps/c {"data":{"b":"1"}}
		PUT configmaps/c {"metadata":{"name":"c"},"data":{"a":"2"}}
		APPLY configmaps/c?fieldManager=alice {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"2"}}`},
	{"webhook sets uid", []hook{{"m", "/uid", "rules: [{apiGroups: ['', apps], apiVersions: [v1], resources: [configmaps, 'replicasets/scale'], operations: ['*']}]"}}, `
		POST configmaps ` + configMap + `
		MERGE configmaps/c {"data":{"b":"1"}}
		PUT configmaps/c {"metadata":{"name":"c"},"data":{"a":"2"}}
		APPLY configmaps/c?fieldManager=alice&force=true {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"3"}}
		POST apps/v1:replicasets {"metadata":{"name":"r"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}
		MERGE apps/v1:replicasets/r/scale {"spec":{"replicas":3}}
		PUT apps/v1:replicasets/r/scale {"metadata":{"name":"r"},"spec":{"replicas":4}}
		APPLY apps/v1:replicasets/r/scale?fieldManager=alice&force=true {"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"r"},"spec":{"replicas":5}}
		MERGE apps/v1:replicasets/r/scale {"spec":{"replicas":1}}`},
	{"webhook removes kind", []hook{{"m", "/untype", ""}}, `
		POST configmaps ` + configMap + `
		MERGE configmaps/c {"data":{"b":"1"}}`},
	{"webhook sets deletionGracePeriodSeconds", []hook{{"m", "/doom", "rules: [{apiGroups: [''], apiVersions: [v1], resources: [configmaps], operations: [UPDATE]}]"}}, `
		POST configmaps ` + configMap + `
		MERGE configmaps/c {"data":{"b":"1"}}`},
	{"webhook sets older apiVersion", []hook{{"m", "/v1", "rules: [{apiGroups: [autoscaling], apiVersions: ['*'], resources: [horizontalpodautoscalers], operations: ['*']}]"},
		{"v", "/allow", "rules: [{apiGroups: [autoscaling], apiVersions: ['*'], resources: [horizontalpodautoscalers], operations: ['*']}]"}}, `
		POST autoscaling/v2:horizontalpodautoscalers {"metadata":{"name":"h"},"spec":{"maxReplicas":3,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"}}}
		MERGE autoscaling/v2:horizontalpodautoscalers/h {"spec":{"maxReplicas":4}}
		APPLY autoscaling/v2:horizontalpodautoscalers/h?fieldManager=alice&force=true {"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"name":"h"},"spec":{"maxReplicas":7}}
		GET autoscaling/v1:horizontalpodautoscalers/h`},
	{"webhook sets newer apiVersion", []hook{{"m", "/v2", "rules: [{apiGroups: [autoscaling], apiVersions: ['*'], resources: [horizontalpodautoscalers], operations: ['*']}]"}}, `
		POST autoscaling/v1:horizontalpodautoscalers {"metadata":{"name":"h"},"spec":{"maxReplicas":3,"targetCPUUtilizationPercentage":50,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"}}}
		GET autoscaling/v2:horizontalpodautoscalers/h`},
}
