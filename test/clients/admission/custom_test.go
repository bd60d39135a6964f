package admission

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/internal/lib/testwait"
)

// definition is a CustomResourceDefinition with two versions, of which the second has an additional field with a
// default. Its group contains the namespace of the test case.
const definition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.NAMESPACE.example.com"},
	"spec":{"group":"NAMESPACE.example.com","scope":"Namespaced","names":{"plural":"widgets","singular":"widget","kind":"Widget","listKind":"WidgetList"},CONVERSION
	"versions":[
	{"name":"v1","served":true,"storage":true,"subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}},
	"schema":{"openAPIV3Schema":{"type":"object","properties":{
		"data":{"type":"object","additionalProperties":{"type":"string"}},
		"spec":{"type":"object","properties":{"replicas":{"type":"integer"},"list":{"type":"array","items":{"type":"object","properties":{"a":{"type":"string"}}}}}},
		"status":{"type":"object","properties":{"replicas":{"type":"integer"}}}}}}},
	{"name":"v2","served":true,"storage":false,"subresources":{"status":{}},
	"schema":{"openAPIV3Schema":{"type":"object","properties":{
		"data":{"type":"object","additionalProperties":{"type":"string"}},
		"extra":{"type":"string","default":"of v2"},
		"spec":{"type":"object","properties":{"replicas":{"type":"integer"}}},
		"status":{"type":"object","properties":{"replicas":{"type":"integer"}}}}}}}]}}`

func TestWebhooksOfCustomResources(t *testing.T) {
	for _, test := range customTestCases {
		t.Run("custom "+test.name, func(t *testing.T) {
			t.Parallel()
			env := newEnvironment(t)
			env.define(t, test.conversion)
			test.run(t, env)
		})
	}
}

// customTestCase is a test case with a custom resource. conversion is the field spec.conversion of its
// CustomResourceDefinition; "" means strategy None.
type customTestCase struct {
	testCase
	conversion string
}

// byWebhook is a spec.conversion that calls the webhook server of the test case.
const byWebhook = `"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"URL/convert","caBundle":"BUNDLE"}}},`

// define creates the CustomResourceDefinition of the test case, with conversion as spec.conversion, and waits until its
// resource is served.
func (env environment) define(t *testing.T, conversion string) {
	t.Helper()
	s, w, namespace := env.server, env.webhook, env.namespace
	const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	conversion = strings.NewReplacer("URL", w.URL, "BUNDLE", w.bundle()).Replace(conversion)
	body := strings.NewReplacer("NAMESPACE", namespace, "CONVERSION", conversion).Replace(definition)
	if a := s.call(t, "POST", definitions, body); a.code != 201 {
		t.Fatalf("POST of the CustomResourceDefinition = status %d %s, want 201", a.code, a.body)
	}
	t.Cleanup(func() { s.call(t, "DELETE", definitions+"/widgets."+namespace+".example.com", "") })
	testwait.For(t, "the kind to be served", func() bool {
		return s.call(t, "GET", fmt.Sprintf("/apis/%s.example.com/v2/namespaces/%s/widgets", namespace, namespace), "").code == 200
	})
}

const (
	onWidgets  = "rules: [{apiGroups: [NAMESPACE.example.com], apiVersions: ['*'], resources: [widgets], operations: ['*']}]"
	onVersion2 = "{rules: [{apiGroups: [NAMESPACE.example.com], apiVersions: [v2], resources: [widgets], operations: ['*']}]}"
	widget1    = `{"apiVersion":"NAMESPACE.example.com/v1","kind":"Widget","metadata":{"name":"w"},"data":{"a":"1"},"spec":{"list":[{"a":"1"}]}}`
	widget2    = `{"apiVersion":"NAMESPACE.example.com/v2","kind":"Widget","metadata":{"name":"x"},"data":{"a":"1"},"extra":"mine"}`
	widgets1   = "NAMESPACE.example.com/v1:widgets"
	widgets2   = "NAMESPACE.example.com/v2:widgets"
)

// customTestCases lists the test cases for custom resources.
var customTestCases = []customTestCase{
	{testCase{"webhook sets newer apiVersion", []hook{{"m", "/v2", onWidgets}, {"v", "/allow", onWidgets}}, `
		POST ` + widgets1 + `?fieldManager=alice ` + widget1 + `
		GET ` + widgets1 + `/w
		GET ` + widgets2 + `/w
		MERGE ` + widgets1 + `/w?fieldManager=bob {"data":{"b":"1"}}
		APPLY ` + widgets1 + `/w?fieldManager=carol&force=true {"apiVersion":"NAMESPACE.example.com/v1","kind":"Widget","metadata":{"name":"w"},"data":{"a":"4"}}
		APPLY ` + widgets1 + `/y?fieldManager=carol {"apiVersion":"NAMESPACE.example.com/v1","kind":"Widget","metadata":{"name":"y"},"data":{"a":"4"}}
		POST ` + widgets2 + ` ` + widget2 + `
		GET ` + widgets2 + `/x`}, ""},
	{testCase{"webhook sets older apiVersion", []hook{{"m", "/v1", onWidgets}, {"v", "/allow", onWidgets}}, `
		POST ` + widgets2 + `?fieldManager=alice ` + widget2 + `
		GET ` + widgets1 + `/x
		MERGE ` + widgets2 + `/x?fieldManager=bob {"data":{"b":"1"}}
		APPLY ` + widgets2 + `/x?fieldManager=carol&force=true {"apiVersion":"NAMESPACE.example.com/v2","kind":"Widget","metadata":{"name":"x"},"data":{"a":"2"},"extra":"again"}`}, ""},
	{testCase{"webhook sets unknown apiVersion", []hook{{"m", "/v3", onWidgets}}, `
		POST ` + widgets1 + ` ` + widget1}, ""},
	{testCase{"webhook sets other group", []hook{{"m", "/othergroup", onWidgets}}, `
		POST ` + widgets1 + ` ` + widget1}, ""},
	{testCase{"webhook removes apiVersion", []hook{{"m", "/unversion", onWidgets}}, `
		POST ` + widgets1 + ` ` + widget1}, ""},
	{testCase{"webhook sets other kind and version", []hook{{"m", "/gadget2", onWidgets}}, `
		POST ` + widgets1 + ` ` + widget1}, ""},
	{testCase{"several webhooks with other apiVersion", []hook{{"m1", "/v2", onWidgets}, {"m2", "/nothing", onWidgets}, {"m3", "/nothing/v2", onVersion2}, {"m4", "/x", onWidgets}}, `
		POST ` + widgets1 + ` ` + widget1 + `
		GET ` + widgets1 + `/w`}, ""},
	{testCase{"webhook sets other apiVersion in status", []hook{{"m", "/v2", "rules: [{apiGroups: [NAMESPACE.example.com], apiVersions: ['*'], resources: [widgets/status], operations: ['*']}]"}}, `
		POST ` + widgets1 + ` ` + widget1 + `
		MERGE ` + widgets1 + `/w/status {"status":{"replicas":3}}
		GET ` + widgets1 + `/w`}, ""},
	{testCase{"webhook adds unknown fields", []hook{{"m", "/unknown", onWidgets}, {"v", "/allow", onWidgets}}, `
		POST ` + widgets1 + `?fieldManager=alice ` + widget1 + `
		GET ` + widgets1 + `/w
		MERGE ` + widgets1 + `/w?fieldManager=bob {"data":{"b":"1"}}
		APPLY ` + widgets1 + `/w?fieldManager=carol&force=true {"apiVersion":"NAMESPACE.example.com/v1","kind":"Widget","metadata":{"name":"w"},"data":{"a":"4"}}
		POST ` + widgets2 + ` ` + widget2 + `
		GET ` + widgets2 + `/x`}, ""},
	{testCase{"several webhooks add unknown fields", []hook{{"m1", "/unknown", onWidgets}, {"m2", "/deep", onWidgets}, {"v", "/allow", onVersion2}}, `
		POST ` + widgets1 + `?fieldManager=alice ` + widget1 + `
		GET ` + widgets1 + `/w`}, ""},
	{testCase{"webhook adds unknown metadata", []hook{{"m", "/meta", onWidgets}, {"v", "/allow", onWidgets}}, `
		POST ` + widgets1 + `?fieldManager=alice ` + widget1 + `
		GET ` + widgets1 + `/w`}, ""},
	{testCase{"conversion by webhook", []hook{{"m1", "/v2", onWidgets}, {"m2", "/x", onWidgets}, {"v", "/allow", onVersion2}}, `
		POST ` + widgets1 + `?fieldManager=alice ` + widget1 + `
		GET ` + widgets1 + `/w
		MERGE ` + widgets1 + `/w?fieldManager=bob {"data":{"b":"1"}}`}, byWebhook},
	{testCase{"mutation at another version with conversion webhook", []hook{{"m1", "/x", onVersion2}, {"m2", "/unknown", onVersion2}, {"v", "/allow", onWidgets}}, `
		POST ` + widgets1 + `?fieldManager=alice ` + widget1 + `
		GET ` + widgets1 + `/w`}, byWebhook},
	{testCase{"conversion fails after mutation", []hook{{"m", "/v2", onWidgets}}, `
		POST ` + widgets1 + ` ` + widget1}, strings.Replace(byWebhook, "URL", "https://127.0.0.1:1", 1)},
}
