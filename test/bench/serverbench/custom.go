package serverbench

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// customGroup is the API group of all CRDs of the benchmark.
const customGroup = "bench.example.com"

const customNamespace = "bench-custom"

// shopSchema is the schema of a custom resource with the fields of the Deployment that the other cases use. Like
// typical CRDs it contains limits, patterns, defaults, lists of type map, and CEL rules.
const shopSchema = `{"type":"object","required":["spec"],"properties":{
"spec":{"type":"object","required":["selector","template"],
 "x-kubernetes-validations":[{"rule":"self.replicas <= 100","message":"too many replicas"},
  {"rule":"self.template.spec.containers.all(c, c.image != '')","message":"a container has no image"}],
 "properties":{
 "replicas":{"type":"integer","format":"int32","minimum":0,"default":1},
 "minReadySeconds":{"type":"integer","format":"int32"},
 "paused":{"type":"boolean","default":false},
 "selector":{"type":"object","x-kubernetes-map-type":"atomic","properties":{"matchLabels":{"type":"object","additionalProperties":{"type":"string"}}}},
 "strategy":{"type":"object","properties":{"type":{"type":"string","enum":["RollingUpdate","Recreate"]},
  "rollingUpdate":{"type":"object","properties":{"maxSurge":{"x-kubernetes-int-or-string":true},"maxUnavailable":{"x-kubernetes-int-or-string":true}}}}},
 "template":{"type":"object","properties":{
  "metadata":{"type":"object","properties":{"labels":{"type":"object","additionalProperties":{"type":"string"}}}},
  "spec":{"type":"object","required":["containers"],"properties":{
   "terminationGracePeriodSeconds":{"type":"integer","format":"int64"},
   "containers":{"type":"array","maxItems":20,"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],"items":{"type":"object","required":["name","image"],"properties":{
    "name":{"type":"string","pattern":"^[a-z0-9-]+$","maxLength":63},
    "image":{"type":"string","maxLength":300},
    "imagePullPolicy":{"type":"string","enum":["Always","IfNotPresent","Never"],"default":"IfNotPresent"},
    "args":{"type":"array","items":{"type":"string"}},
    "ports":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["containerPort","protocol"],"items":{"type":"object","required":["containerPort","protocol"],"properties":{
     "name":{"type":"string"},"containerPort":{"type":"integer","minimum":1,"maximum":65535},"protocol":{"type":"string","default":"TCP"}}}},
    "env":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],"items":{"type":"object","required":["name"],"properties":{
     "name":{"type":"string"},"value":{"type":"string"},
     "valueFrom":{"type":"object","properties":{"secretKeyRef":{"type":"object","properties":{"name":{"type":"string"},"key":{"type":"string"}}}}}}}},
    "resources":{"type":"object","properties":{
     "requests":{"type":"object","additionalProperties":{"x-kubernetes-int-or-string":true}},
     "limits":{"type":"object","additionalProperties":{"x-kubernetes-int-or-string":true}}}},
    "readinessProbe":{"type":"object","properties":{"periodSeconds":{"type":"integer"},
     "httpGet":{"type":"object","properties":{"path":{"type":"string"},"port":{"x-kubernetes-int-or-string":true}}}}},
    "volumeMounts":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["mountPath"],"items":{"type":"object","required":["mountPath"],"properties":{
     "name":{"type":"string"},"mountPath":{"type":"string"},"readOnly":{"type":"boolean"}}}}}}},
   "volumes":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],"items":{"type":"object","required":["name"],"properties":{
    "name":{"type":"string"},"configMap":{"type":"object","properties":{"name":{"type":"string"}}}}}}}}}}}},
"status":{"type":"object","properties":{"readyReplicas":{"type":"integer"}}}}}`

// customKind is the singular name of a custom resource.
type customKind string

// Two custom resources with the same schema.
const (
	shop  customKind = "shop"
	stall customKind = "stall"
)

// name returns the kind, which is the singular name with an upper-case first letter.
func (k customKind) name() string { return strings.ToUpper(string(k[:1])) + string(k[1:]) }

func (k customKind) collection() string {
	return "/apis/" + customGroup + "/v1/namespaces/" + customNamespace + "/" + string(k) + "s"
}

// definition returns the request that applies the CRD of k with the given schema.
func (k customKind) definition(schema string) Request {
	body := fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"%[1]ss.%[2]s"},`+
		`"spec":{"group":%[2]q,"scope":"Namespaced","names":{"plural":"%[1]ss","singular":%[1]q,"kind":%[3]q,"listKind":"%[3]sList"},`+
		`"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},"schema":{"openAPIV3Schema":%[4]s}}]}}`,
		string(k), customGroup, k.name(), schema)
	return write("PATCH", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"+string(k)+"s."+customGroup+"?fieldManager="+manager, applyType, []byte(body))
}

// body returns a custom resource with the fields of the Deployment that the other cases use. version is the version of
// its images.
func (k customKind) body(name string, version int) []byte {
	text := objectKey{customNamespace, name}.body(version)
	return []byte(strings.Replace(string(text), `"apiVersion":"apps/v1","kind":"Deployment"`,
		fmt.Sprintf(`"apiVersion":"%s/v1","kind":%q`, customGroup, k.name()), 1))
}

func (k customKind) apply(name string, version int) Request {
	return write("PATCH", k.collection()+"/"+name+"?fieldManager="+manager, applyType, k.body(name, version))
}

// define creates the CRD of k with the given schema, and waits until its resource is served.
func (k customKind) define(ctx context.Context, c *Client, schema string) error {
	if _, err := c.Do(ctx, k.definition(schema)); err != nil {
		return err
	}
	return k.waitServed(ctx, c)
}

// waitServed waits until the custom resources can be listed.
func (k customKind) waitServed(ctx context.Context, c *Client) error {
	const pause = 5 * time.Millisecond
	for {
		_, err := c.Do(ctx, Request{Method: http.MethodGet, Path: k.collection()})
		if !isNotServed(err) {
			return err
		}
		if err := sleepUntil(ctx, time.Now().Add(pause)); err != nil {
			return err
		}
	}
}

// CustomCases lists the cases with custom resources.
var CustomCases = []Case{
	{"custom/noop", prepareCustom("noop"), do(func(w *worker) Request { return shop.apply(w.own("noop").name, 0) })},
	{"custom/change", prepareCustom("change"), do(func(w *worker) Request { return shop.apply(w.own("change").name, w.server.unusedVersion()) })},
	{"custom/create", prepareCustom("create"), do(func(w *worker) Request { return shop.apply(w.server.unusedName(), 0) })},
}

// prepareCustom returns a function that creates the CRD and the objects of each client.
func prepareCustom(what string) func(context.Context, *Server, int) error {
	return func(ctx context.Context, s *Server, clients int) error {
		if err := s.define(ctx, shop); err != nil {
			return err
		}
		return s.each(ctx, clients, clients*ownObjects, func(ctx context.Context, c *Client, i int) error {
			_, err := c.Do(ctx, shop.apply(ownKey(what, i/ownObjects, i%ownObjects).name, 0))
			return err
		})
	}
}

// define creates CRDs with shopSchema and waits until their resources are served.
func (s *Server) define(ctx context.Context, kinds ...customKind) error {
	if err := s.makeNamespace(ctx, objectKey{namespace: customNamespace}); err != nil {
		return err
	}
	c := s.NewClient()
	defer c.Close()
	for _, k := range kinds {
		if err := k.define(ctx, c, shopSchema); err != nil {
			return err
		}
	}
	return nil
}
