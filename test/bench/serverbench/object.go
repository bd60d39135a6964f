package serverbench

import (
	"fmt"
	"strings"
)

const (
	applyType = "application/apply-patch+yaml" // JSON is YAML
	jsonType  = "application/json"
	manager   = "bench"
)

// deployment is a Deployment with two containers, about what people apply. NAME, SPACE and TAG are to be
// filled in.
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

// A place is where a Deployment is.
type place struct{ space, name string }

// body is the deployment with the version of its image.
func (p place) body(version int) []byte {
	tag := fmt.Sprintf("2.30.%d", version)
	return []byte(strings.NewReplacer("NAME", p.name, "SPACE", p.space, "TAG", tag).Replace(deployment))
}

func (p place) collection() string { return "/apis/apps/v1/namespaces/" + p.space + "/deployments" }
func (p place) path() string       { return p.collection() + "/" + p.name }

// apply is the apply of it.
func (p place) apply(version int) Request {
	return write("PATCH", p.path()+"?fieldManager="+manager, applyType, p.body(version))
}

func (p place) create(version int) Request {
	return write("POST", p.collection()+"?fieldManager="+manager, jsonType, p.body(version))
}

// update replaces it, whatever its revision is.
func (p place) update(version int) Request {
	return write("PUT", p.path()+"?fieldManager="+manager, jsonType, p.body(version))
}

func (p place) get() Request  { return Request{Method: "GET", Path: p.path()} }
func (p place) list() Request { return Request{Method: "GET", Path: p.collection()} }

// namespace makes the namespace of the place.
func (p place) namespace() Request {
	body := fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q}}`, p.space)
	return write("POST", "/api/v1/namespaces", jsonType, []byte(body))
}
