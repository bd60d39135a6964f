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

// gatewaySchema returns the schema of a kind of the Gateway API, whose definitions are in kube-apiserver's own tests.
func gatewaySchema(b *testing.B, kind string) document.Value {
	b.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/apiextensions-apiserver").Output()
	if err != nil {
		b.Fatalf("where are the definitions of the Gateway API? %v", err)
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
	b.Fatalf("there is no %s in the Gateway API", kind)
	return document.Value{}
}

// route is a route with so many rules.
func route(rules int) string {
	const rule = `{"matches":[{"path":{"type":"PathPrefix","value":"/shop"},"headers":[{"name":"version","value":"two"}]}],
		"filters":[{"type":"RequestHeaderModifier","requestHeaderModifier":{"add":[{"name":"my-header","value":"foo"}],"remove":["other"]}}],
		"backendRefs":[{"name":"shop","port":8080,"weight":90},{"name":"shop-next","port":8080,"weight":10}]}`
	return fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"route","namespace":"default","labels":{"app":"shop"}},
		"spec":{"parentRefs":[{"name":"gateway"}],"hostnames":["shop.example.com","www.example.com"],"rules":[%s]}}`, strings.TrimSuffix(strings.Repeat(rule+",", rules), ","))
}

// withoutRules leaves the rules in CEL out of a schema.
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

// BenchmarkRoute reads, defaults and validates a route that is right, as both sides have it in memory.
func BenchmarkRoute(b *testing.B) {
	schema := gatewaySchema(b, "HTTPRoute")
	plain := jsonText(withoutRules(schema.ToGo()))
	for _, test := range []struct{ name, schema string }{{"plain", plain}, {"rules", schema.JSON()}} {
		ours, err := structural.Compile(parse(b, test.schema), testOptions)
		if err != nil {
			b.Fatal(err)
		}
		theirs, refused, err := newUpstream(test.schema)
		if err != nil || len(refused) > 0 {
			b.Fatal(err, refused)
		}
		b.Run(test.name+"/ours", func(b *testing.B) { benchOurs(b, ours, route(4)) })
		b.Run(test.name+"/upstream", func(b *testing.B) { benchTheirs(b, theirs, route(4)) })
	}
}

func benchOurs(b *testing.B, t *structural.Type, text string) {
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

func benchTheirs(b *testing.B, u *upstream, text string) {
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

// BenchmarkCompile makes the type of a route.
func BenchmarkCompile(b *testing.B) {
	schema := gatewaySchema(b, "HTTPRoute")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := structural.Compile(schema, testOptions); err != nil {
			b.Fatal(err)
		}
	}
}
