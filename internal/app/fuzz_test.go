package app

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// fuzzedMethods are the methods of FuzzRequests.
var fuzzedMethods = []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"}

// requestSeed is a seed of FuzzRequests: at least one for each part of a request that the server decodes.
type requestSeed struct {
	method, path, query, contentType, accept, body string
}

// seedMaps is the path of the ConfigMaps in the namespace default, and seedMap one of them.
const (
	seedMaps = "/api/v1/namespaces/default/configmaps"
	seedMap  = seedMaps + "/fuzzed"
)

// appliedSeed is a configuration with managedFields.
const appliedSeed = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"fuzzed","managedFields":[{"manager":"m","operation":"Apply","apiVersion":"v1",` +
	`"time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:data":{".":{},"f:a":{}},"f:metadata":{"f:ownerReferences":{"k:{\"uid\":\"x\"}":{},"v:1":{}}}}}]},"data":{"a":"b"}}`

var requestSeeds = []requestSeed{
	{"GET", seedMaps, "labelSelector=a in (b,c),!d,e!=f&fieldSelector=metadata.name=x,metadata.namespace!=y", "", "", ""},
	{"GET", seedMaps, "limit=1&continue=eyJ2IjoiY2FkYXN0cmUvdjEiLCJydiI6MSwiYWZ0ZXIiOiJjb3JlL2NvbmZpZ21hcHMvZGVmYXVsdC9hIn0", "", "", ""},
	{"GET", seedMaps, "resourceVersion=1&resourceVersionMatch=Exact&timeoutSeconds=1", "", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;q=0.5", ""},
	{"GET", seedMaps, "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true", "", "application/vnd.kubernetes.protobuf;stream=watch", ""},
	{"GET", seedMaps, "includeObject=Metadata&pretty=true", "", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", ""},
	{"GET", seedMap, "", "", "application/cbor, */*;q=0.1", ""},
	{"GET", "/openapi/v2", "", "", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf", ""},
	{"GET", "/openapi/v3/apis/apps/v1", "hash=x", "", "", ""},
	{"GET", "/apis", "", "", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", ""},
	{"GET", "/readyz/ping", "verbose&exclude=store", "", "", ""},
	{"GET", "/apis/apps/v1/watch/namespaces/default/deployments/x", "resourceVersion=0&timeoutSeconds=1", "", "", ""},
	{"POST", seedMaps, "fieldValidation=Strict&fieldManager=m&dryRun=All", "application/json", "", `{"metadata":{"generateName":"x-","ownerReferences":[{}]},"data":{"a":"b"},"binaryData":{"c":"AA=="}}`},
	{"POST", seedMaps, "", "application/yaml", "", "metadata: {name: &a x, labels: {b: *a}}\ndata:\n  c: |\n    d\n"},
	{"POST", seedMaps, "", "application/vnd.kubernetes.protobuf", "", "k8s\x00\n\x0f\n\x02v1\x12\tConfigMap\x12\x0b\n\x05\n\x01x\x12\x00\x12\x02\n\x00\x1a\x00\"\x00"},
	{"POST", seedMaps, "", "application/cbor", "", "\xd9\xd9\xf7\xa2Hmetadata\xa1DnameAxDdata\xa1AaAb"},
	{"POST", "/api/v1/namespaces/default/pods", "dryRun=All", "application/json", "", `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":1}],"resources":{"limits":{"cpu":"1e3"}}}]}}`},
	{"POST", "/api/v1/namespaces/default/pods/p/eviction", "", "application/json", "", `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p"},"deleteOptions":{"preconditions":{"uid":"x"}}}`},
	{"POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", "", "application/json", "", `{"spec":{"user":"a","resourceAttributes":{"verb":"get","fieldSelector":{"rawSelector":"a=b"},"labelSelector":{"requirements":[{"key":"a","operator":"In","values":["b"]}]}}}}`},
	{"POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "dryRun=All", "application/json", "", `{"metadata":{"name":"as.b.c"},"spec":{"group":"b.c","names":{"plural":"as","kind":"A"},"scope":"Namespaced","versions":[{"name":"v1","served":true,"storage":true,"additionalPrinterColumns":[{"name":"n","type":"string","jsonPath":".a[?(@.b=='c')]"}],"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-validations":[{"rule":"self.a.matches('b')"}],"properties":{"a":{"type":"string","pattern":"^a$","default":"a"}}}}}]}}`},
	{"PUT", seedMap, "fieldManager=m", "application/json", "", appliedSeed},
	{"PUT", "/apis/apps/v1/namespaces/default/deployments/x/scale", "", "application/json", "", `{"spec":{"replicas":1}}`},
	{"PATCH", seedMap, "fieldManager=m&force=true", "application/apply-patch+yaml", "", appliedSeed},
	{"PATCH", seedMap, "fieldManager=m", "application/apply-patch+yaml", "", `{"apiVersion":"v1","kind":"ConfigMap","data":{"a":{"k8s_io__value":"unset"}}}`},
	{"PATCH", seedMap, "fieldManager=m", "application/apply-patch+cbor", "", "\xa1DdataD\xff\xff\xff\xff"},
	{"PATCH", seedMap, "", "application/json-patch+json", "", `[{"op":"test","path":"/data/a~1b~0","value":1},{"op":"move","from":"/data/a","path":"/data/-"},{"op":"copy","from":"/metadata","path":"/data"}]`},
	{"PATCH", seedMap, "", "application/merge-patch+json", "", `{"metadata":{"managedFields":[{}],"annotations":null},"data":{"a":null}}`},
	{"PATCH", "/apis/apps/v1/namespaces/default/deployments/x", "", "application/strategic-merge-patch+json", "", `{"spec":{"strategy":{"$retainKeys":["type"]},"template":{"spec":{"$setElementOrder/containers":[{"name":"c"}],"containers":[{"name":"c","$patch":"replace"}],"$deleteFromPrimitiveList/tolerations":[1]}}}}`},
	{"DELETE", seedMap, "propagationPolicy=Foreground&gracePeriodSeconds=0", "application/json", "", `{"preconditions":{"uid":"x","resourceVersion":"1"},"orphanDependents":true,"dryRun":["All"]}`},
	{"DELETE", seedMaps, "labelSelector=a", "application/vnd.kubernetes.protobuf", "", "k8s\x00\n\x10\n\x02v1\x12\nDeleteOptions\x12\x00"},
}

// FuzzRequests sends arbitrary requests of an administrator to a server. No request may result in a 5xx, which a panic causes, too.
func FuzzRequests(f *testing.F) {
	for _, s := range requestSeeds {
		f.Add(s.method, s.path, s.query, s.contentType, s.accept, s.body)
	}
	c := start(f, Config{})
	for _, s := range []string{seedMaps, "/apis/apps/v1/namespaces/default/deployments"} {
		c.call("POST", s, `{"metadata":{"name":"fuzzed"},"data":{"a":"b"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`,
			"Content-Type: application/json").want(201)
	}
	f.Fuzz(func(t *testing.T, method, path, query, contentType, accept, body string) {
		r, ok := fuzzedRequest(c.url, requestSeed{method, path, query, contentType, accept, body})
		if !ok {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		response, err := c.http.Do(r.WithContext(ctx))
		if err != nil {
			return // a header or a path that Go's client does not send
		}
		defer response.Body.Close()
		if response.StatusCode >= 500 && !strings.HasPrefix(path, "/readyz") && !strings.HasPrefix(path, "/livez") && !strings.HasPrefix(path, "/healthz") {
			text, _ := io.ReadAll(io.LimitReader(response.Body, 1000)) // an incomplete text is enough
			t.Errorf("%s %s?%s: %d %s", r.Method, path, query, response.StatusCode, text)
		}
	})
}

// fuzzedRequest returns a request; ok is false if it is none that the server could receive.
func fuzzedRequest(server string, s requestSeed) (r *http.Request, ok bool) {
	base, err := url.Parse(server)
	if err != nil || !slices.Contains(fuzzedMethods, s.method) || !strings.HasPrefix(s.path, "/") || strings.HasPrefix(s.path, "/debug/") {
		return nil, false
	}
	base.Path, base.RawQuery = s.path, url.PathEscape(s.query)
	if strings.Contains(s.query, "%") { // already escaped
		base.RawQuery = s.query
	}
	r, err = http.NewRequest(s.method, base.String(), strings.NewReader(s.body))
	if err != nil {
		return nil, false
	}
	r.Header.Set("Content-Type", s.contentType)
	r.Header.Set("Accept", s.accept)
	return r, true
}
