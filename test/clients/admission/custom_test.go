package admission

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/internal/lib/testwait"
)

// definition is a kind of two versions, of which the second has a field and a default more. Its group is that of the
// trial.
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
	for _, test := range customTrials {
		t.Run("custom "+test.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.define(t, test.conversion)
			test.run(t, p)
		})
	}
}

// A customTrial is one of a custom resource, which is converted in a way; "" if its versions are alike.
type customTrial struct {
	trial
	conversion string
}

// byWebhook has objects converted by the webhook that runs here.
const byWebhook = `"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"URL/convert","caBundle":"BUNDLE"}}},`

// define makes the kind of a trial, and waits until it is served.
func (p place) define(t *testing.T, conversion string) {
	t.Helper()
	s, w, namespace := p.server, p.webhook, p.namespace
	const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	conversion = strings.NewReplacer("URL", w.URL, "BUNDLE", w.bundle()).Replace(conversion)
	body := strings.NewReplacer("NAMESPACE", namespace, "CONVERSION", conversion).Replace(definition)
	if a := s.call(t, "POST", definitions, body); a.code != 201 {
		t.Fatalf("define the kind: %d %s", a.code, a.body)
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

// customTrials are of custom resources.
var customTrials = []customTrial{
	{trial{"another version", []hook{{"m", "/v2", onWidgets}, {"v", "/allow", onWidgets}}, `
		POST ` + widgets1 + `?fieldManager=alice ` + widget1 + `
		GET ` + widgets1 + `/w
		GET ` + widgets2 + `/w
		MERGE ` + widgets1 + `/w?fieldManager=bob {"data":{"b":"1"}}
		APPLY ` + widgets1 + `/w?fieldManager=carol&force=true {"apiVersion":"NAMESPACE.example.com/v1","kind":"Widget","metadata":{"name":"w"},"data":{"a":"4"}}
		APPLY ` + widgets1 + `/y?fieldManager=carol {"apiVersion":"NAMESPACE.example.com/v1","kind":"Widget","metadata":{"name":"y"},"data":{"a":"4"}}
		POST ` + widgets2 + ` ` + widget2 + `
		GET ` + widgets2 + `/x`}, ""},
	{trial{"older version", []hook{{"m", "/v1", onWidgets}, {"v", "/allow", onWidgets}}, `
		POST ` + widgets2 + `?fieldManager=alice ` + widget2 + `
		GET ` + widgets1 + `/x
		MERGE ` + widgets2 + `/x?fieldManager=bob {"data":{"b":"1"}}
		APPLY ` + widgets2 + `/x?fieldManager=carol&force=true {"apiVersion":"NAMESPACE.example.com/v2","kind":"Widget","metadata":{"name":"x"},"data":{"a":"2"},"extra":"again"}`}, ""},
	{trial{"unknown version", []hook{{"m", "/v3", onWidgets}}, `
		POST ` + widgets1 + ` ` + widget1}, ""},
	{trial{"another group", []hook{{"m", "/othergroup", onWidgets}}, `
		POST ` + widgets1 + ` ` + widget1}, ""},
	{trial{"no version", []hook{{"m", "/unversion", onWidgets}}, `
		POST ` + widgets1 + ` ` + widget1}, ""},
	{trial{"another kind and version", []hook{{"m", "/gadget2", onWidgets}}, `
		POST ` + widgets1 + ` ` + widget1}, ""},
	{trial{"another version one after the other", []hook{{"m1", "/v2", onWidgets}, {"m2", "/nothing", onWidgets}, {"m3", "/nothing/v2", onVersion2}, {"m4", "/x", onWidgets}}, `
		POST ` + widgets1 + ` ` + widget1 + `
		GET ` + widgets1 + `/w`}, ""},
	{trial{"another version in status", []hook{{"m", "/v2", "rules: [{apiGroups: [NAMESPACE.example.com], apiVersions: ['*'], resources: [widgets/status], operations: ['*']}]"}}, `
		POST ` + widgets1 + ` ` + widget1 + `
		MERGE ` + widgets1 + `/w/status {"status":{"replicas":3}}
		GET ` + widgets1 + `/w`}, ""},
	{trial{"unknown fields", []hook{{"m", "/unknown", onWidgets}, {"v", "/allow", onWidgets}}, `
		POST ` + widgets1 + `?fieldManager=alice ` + widget1 + `
		GET ` + widgets1 + `/w
		MERGE ` + widgets1 + `/w?fieldManager=bob {"data":{"b":"1"}}
		APPLY ` + widgets1 + `/w?fieldManager=carol&force=true {"apiVersion":"NAMESPACE.example.com/v1","kind":"Widget","metadata":{"name":"w"},"data":{"a":"4"}}
		POST ` + widgets2 + ` ` + widget2 + `
		GET ` + widgets2 + `/x`}, ""},
	{trial{"unknown fields one after the other", []hook{{"m1", "/unknown", onWidgets}, {"m2", "/deep", onWidgets}, {"v", "/allow", onVersion2}}, `
		POST ` + widgets1 + `?fieldManager=alice ` + widget1 + `
		GET ` + widgets1 + `/w`}, ""},
	{trial{"unknown metadata", []hook{{"m", "/meta", onWidgets}, {"v", "/allow", onWidgets}}, `
		POST ` + widgets1 + `?fieldManager=alice ` + widget1 + `
		GET ` + widgets1 + `/w`}, ""},
	{trial{"converted by a webhook", []hook{{"m1", "/v2", onWidgets}, {"m2", "/x", onWidgets}, {"v", "/allow", onVersion2}}, `
		POST ` + widgets1 + `?fieldManager=alice ` + widget1 + `
		GET ` + widgets1 + `/w
		MERGE ` + widgets1 + `/w?fieldManager=bob {"data":{"b":"1"}}`}, byWebhook},
	{trial{"seen at another version and changed by a webhook", []hook{{"m1", "/x", onVersion2}, {"m2", "/unknown", onVersion2}, {"v", "/allow", onWidgets}}, `
		POST ` + widgets1 + `?fieldManager=alice ` + widget1 + `
		GET ` + widgets1 + `/w`}, byWebhook},
	{trial{"changed and not converted", []hook{{"m", "/v2", onWidgets}}, `
		POST ` + widgets1 + ` ` + widget1}, strings.Replace(byWebhook, "URL", "https://127.0.0.1:1", 1)},
}
