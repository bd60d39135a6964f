package registry

import (
	"fmt"
	"strings"
	"testing"
)

// deployment is a Deployment of typical size. NAME and TAG are placeholders.
const deployment = `{"apiVersion":"apps/v1","kind":"Deployment",` +
	`"metadata":{"name":"NAME","namespace":"default","labels":{"app":"NAME","app.kubernetes.io/part-of":"shop","team":"checkout"},` +
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

// BenchmarkWrite measures the duration of writes to a store in memory, without disk and HTTP.
func BenchmarkWrite(b *testing.B) {
	o := open(b, Options{})
	endpoint := o.endpoint(b, "apps", "deployments")
	text := func(name string, version int) Body {
		return Body{Text: strings.NewReplacer("NAME", name, "TAG", fmt.Sprint("1.", version)).Replace(deployment)}
	}
	for _, bench := range []struct {
		name string
		do   func(i int) (Result, error)
	}{
		{"apply/create", func(i int) (Result, error) {
			name := fmt.Sprint("new-", i)
			return o.Apply(b.Context(), request(endpoint, "default", name, text(name, 0)))
		}},
		{"apply/change", func(i int) (Result, error) {
			return o.Apply(b.Context(), request(endpoint, "default", "web", text("web", i)))
		}},
		{"apply/noop", func(int) (Result, error) {
			return o.Apply(b.Context(), request(endpoint, "default", "still", text("still", 0)))
		}},
		{"create", func(i int) (Result, error) {
			return o.Create(b.Context(), request(endpoint, "default", "", text(fmt.Sprint("posted-", i), 0)))
		}},
		{"update", func(i int) (Result, error) {
			return o.Update(b.Context(), request(endpoint, "default", "web", text("web", i)))
		}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				createdObjects++
				i = createdObjects
				if _, err := bench.do(i); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// createdObjects is the number of objects that benchmarks have created. It makes their names unique.
var createdObjects int
