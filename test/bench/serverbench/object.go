package serverbench

import (
	"fmt"
	"strings"
)

const (
	applyType = "application/apply-patch+yaml" // an applied configuration may be JSON, which is also YAML
	jsonType  = "application/json"
	manager   = "bench"
)

// deployment is a typical Deployment with two containers. NAME, SPACE and TAG are placeholders for its name, namespace
// and image tag.
const deployment = `{"apiVersion":"apps/v1","kind":"Deployment",` +
	`"metadata":{"name":"NAME","namespace":"SPACE","labels":{"app":"NAME","app.kubernetes.io/part-of":"shop","team":"checkout"},` +
	`"annotations":{"ci.example.com/build":"48213","ci.example.com/commit":"3f1c9a7be2d4506f8a91c0de77b1aa52e6094d3b"}},` +
	`"spec":{"replicas":3,"minReadySeconds":10,"selector":{"matchLabels":{"app":"NAME"}},` +
	`"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":"25%","maxUnavailable":0}},` +
	`"template":{"metadata":{"labels":{"app":"NAME","tier":"front"}},"spec":{"terminationGracePeriodSeconds":45,"containers":[` +
	`{"name":"web","image":"registry.example.com/shop/web:TAG",` +
	`"ports":[{"name":"http","containerPort":8080,"protocol":"TCP"},{"name":"metrics","containerPort":9090,"protocol":"TCP"}],` +
	`"env":[{"name":"LOG_LEVEL","value":"info"},{"name":"CART_URL","value":"http://cart.shop.svc:8080"},` +
	`{"name":"DB_PASSWORD","valueFrom":{"secretKeyRef":{"name":"db","key":"password"}}}],` +
	`"resources":{"requests":{"cpu":"250m","memory":"256Mi"},"limits":{"memory":"512Mi"}},` +
	`"readinessProbe":{"httpGet":{"path":"/ready","port":"http"},"periodSeconds":5},` +
	`"volumeMounts":[{"name":"config","mountPath":"/etc/web","readOnly":true}]},` +
	`{"name":"proxy","image":"registry.example.com/mesh/proxy:1.9.4","args":["--upstream","127.0.0.1:8080"],` +
	`"ports":[{"name":"mesh","containerPort":15001,"protocol":"TCP"}],` +
	`"resources":{"requests":{"cpu":"50m","memory":"64Mi"},"limits":{"memory":"128Mi"}}}],` +
	`"volumes":[{"name":"config","configMap":{"name":"web-config"}}]}}}}`

// objectKey is the namespace and name of a Deployment.
type objectKey struct{ namespace, name string }

// body returns the Deployment with the given version in its image tags.
func (k objectKey) body(version int) []byte {
	tag := fmt.Sprintf("2.30.%d", version)
	return []byte(strings.NewReplacer("NAME", k.name, "SPACE", k.namespace, "TAG", tag).Replace(deployment))
}

func (k objectKey) collection() string {
	return "/apis/apps/v1/namespaces/" + k.namespace + "/deployments"
}
func (k objectKey) path() string { return k.collection() + "/" + k.name }

// apply returns a server-side apply request.
func (k objectKey) apply(version int) Request {
	return write("PATCH", k.path()+"?fieldManager="+manager, applyType, k.body(version))
}

func (k objectKey) create(version int) Request {
	return write("POST", k.collection()+"?fieldManager="+manager, jsonType, k.body(version))
}

// update returns a PUT request without a resourceVersion.
func (k objectKey) update(version int) Request {
	return write("PUT", k.path()+"?fieldManager="+manager, jsonType, k.body(version))
}

func (k objectKey) get() Request  { return Request{Method: "GET", Path: k.path()} }
func (k objectKey) list() Request { return Request{Method: "GET", Path: k.collection()} }

// createNamespace returns the request that creates the namespace.
func (k objectKey) createNamespace() Request {
	body := fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q}}`, k.namespace)
	return write("POST", "/api/v1/namespaces", jsonType, []byte(body))
}
