package structural

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	apidefaulting "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/crd/structural"
)

// gatewaySchema returns the schema of a kind of the Gateway API, whose CRDs are part of kube-apiserver's tests.
func gatewaySchema(b *testing.B, kind string) document.Value {
	b.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/apiextensions-apiserver").Output()
	if err != nil {
		b.Fatalf("locating the CRDs of the Gateway API: %v", err)
	}
	text, err := os.ReadFile(filepath.Join(string(bytes.TrimSpace(dir)), "test/integration/ratcheting_test_cases/crds/standard-install.yaml"))
	if err != nil {
		b.Fatal(err)
	}
	for doc, err := range document.ParseYAMLStream(text, document.Limits{}) {
		if err != nil {
			b.Fatal(err)
		}
		if doc.Lookup("spec", "names", "kind").Text() == kind {
			return doc.Lookup("spec", "versions").At(0).Lookup("schema", "openAPIV3Schema")
		}
	}
	b.Fatalf("the CRDs of the Gateway API do not define kind %s", kind)
	return document.Value{}
}

// route returns an HTTPRoute with the given number of rules, as JSON.
func route(rules int) string {
	const rule = `{"matches":[{"path":{"type":"PathPrefix","value":"/shop"},"headers":[{"name":"version","value":"two"}]}],
		"filters":[{"type":"RequestHeaderModifier","requestHeaderModifier":{"add":[{"name":"my-header","value":"foo"}],"remove":["other"]}}],
		"backendRefs":[{"name":"shop","port":8080,"weight":90},{"name":"shop-next","port":8080,"weight":10}]}`
	return fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"route","namespace":"default","labels":{"app":"shop"}},
		"spec":{"parentRefs":[{"name":"gateway"}],"hostnames":["shop.example.com","www.example.com"],"rules":[%s]}}`, strings.TrimSuffix(strings.Repeat(rule+",", rules), ","))
}

// withoutRules removes all CEL rules from v, a decoded schema, and returns it.
func withoutRules(v any) any {
	switch v := v.(type) {
	case object:
		delete(v, "x-kubernetes-validations")
		for _, value := range v {
			withoutRules(value)
		}
	case []any:
		for _, item := range v {
			withoutRules(item)
		}
	}
	return v
}

// BenchmarkRoute reads, defaults and validates a valid HTTPRoute, with Cadastre and with kube-apiserver. Each starts
// from its own in-memory representation of the object.
func BenchmarkRoute(b *testing.B) {
	schema := gatewaySchema(b, "HTTPRoute")
	plain := jsonText(withoutRules(schema.ToGo()))
	for _, test := range []struct{ name, schema string }{{"plain", plain}, {"rules", schema.JSON()}} {
		cadastre, err := structural.Compile(parse(b, test.schema), testOptions)
		if err != nil {
			b.Fatal(err)
		}
		upstream, refused, err := newUpstream(test.schema)
		if err != nil || len(refused) > 0 {
			b.Fatal(err, refused)
		}
		b.Run(test.name+"/ours", func(b *testing.B) { benchmarkCadastre(b, cadastre, route(4)) })
		b.Run(test.name+"/upstream", func(b *testing.B) { benchmarkUpstream(b, upstream, route(4)) })
	}
}

func benchmarkCadastre(b *testing.B, t *structural.Type, text string) {
	obj := parse(b, text)
	b.ReportAllocs()
	for b.Loop() {
		read, _, err := t.Decode(obj)
		if err != nil {
			b.Fatal(err)
		}
		if errs := t.Validate(t.Default(read), document.Value{}); len(errs) > 0 {
			b.Fatal(errs)
		}
	}
}

func benchmarkUpstream(b *testing.B, u *upstream, text string) {
	obj := goValue(b, text)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := u.read(obj); err != nil {
			b.Fatal(err)
		}
		apidefaulting.Default(obj, u.schema)
		if errs, _ := u.validate(obj, nil, false); len(errs) > 0 {
			b.Fatal(errs)
		}
	}
}

// BenchmarkCompile compiles the schema of HTTPRoute with Cadastre.
func BenchmarkCompile(b *testing.B) {
	schema := gatewaySchema(b, "HTTPRoute")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := structural.Compile(schema, testOptions); err != nil {
			b.Fatal(err)
		}
	}
}
