package ownership

import (
	"errors"
	"os"
	"testing"

	"github.com/cadastre/cadastre/apply"
)

// deployment returns the object in testdata/deployment.yaml.
func deployment(t testing.TB) apply.Object {
	t.Helper()
	text, err := os.ReadFile("testdata/deployment.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return readYAML(t, string(text))
}

// TestPathExpression checks the paths to which path expressions resolve in a Deployment.
func TestPathExpression(t *testing.T) {
	const container = `.spec.template.spec.containers[name="app"]`
	const pod = "spec.template.spec"
	for expression, want := range map[string]string{
		"spec.replicas":    ".spec.replicas",
		".spec.replicas":   ".spec.replicas",
		`spec["replicas"]`: ".spec.replicas",
		`metadata.annotations["example.com/notes"]`:                        `.metadata.annotations."example.com/notes"`,
		`metadata.annotations['example.com/notes']`:                        `.metadata.annotations."example.com/notes"`,
		`metadata.annotations.example\.com/notes`:                          `.metadata.annotations."example.com/notes"`,
		`metadata.annotations."example.com/notes"`:                         `.metadata.annotations."example.com/notes"`,
		`["metadata"].labels`:                                              ".metadata.labels",
		pod + ".containers[name=app].image":                                container + ".image",
		pod + `.containers[name="app"].image`:                              container + ".image",
		pod + ".containers[0].image":                                       container + ".image",
		pod + ".containers[1]":                                             `.spec.template.spec.containers[name="proxy"]`,
		pod + ".containers[name=app].ports[containerPort=80]":              container + `.ports[containerPort=80,protocol="TCP"]`,
		pod + `.containers[name=app].ports[protocol=TCP,containerPort=80]`: container + `.ports[containerPort=80,protocol="TCP"]`,
		pod + ".containers[name=app].env[name=OLD]":                        container + `.env[name="OLD"]`, // a field manager owns the item, but the object does not have it
		pod + ".containers[name=app].newField":                             container + ".newField",
		"metadata.finalizers[=example.com/a]":                              `.metadata.finalizers[="example.com/a"]`,
		`metadata.finalizers["example.com/a"]`:                             `.metadata.finalizers[="example.com/a"]`,
		"metadata.finalizers[1]":                                           `.metadata.finalizers[="example.com/b"]`,
	} {
		p, err := ParsePath(expression)
		if err != nil {
			t.Error(err)
			continue
		}
		path, err := p.Resolve(deployment(t))
		if err != nil || path.Quoted() != want {
			t.Errorf("%s: Resolve() = %s, %v; want %s", expression, path.Quoted(), err, want)
		}
		if p.String() != expression {
			t.Errorf("String() of the parsed path = %s, want %s", p, expression)
		}
	}
}

// TestParsePathRoundTrip checks, for every owned path of an object, that parsing and resolving its quoted notation returns
// the same path.
func TestParsePathRoundTrip(t *testing.T) {
	o := deployment(t)
	for i := range o.Entries {
		set, err := decodeFields(o.Entries, i)
		if err != nil {
			t.Fatal(err)
		}
		for path := range set.All() {
			p, err := ParsePath(path.Quoted())
			if err != nil {
				t.Error(err)
				continue
			}
			if got, err := p.Resolve(o); err != nil || !got.Equal(path) {
				t.Errorf("%s: Resolve() = %s, %v; want the same path", path.Quoted(), got.Quoted(), err)
			}
		}
	}
}

// TestUnquotedKeyValues checks that a key value without quotes matches a number, a boolean or a string.
func TestUnquotedKeyValues(t *testing.T) {
	o := apply.Object{Entries: []apply.Entry{newEntry(t, "ci/Apply", `a[name="8080"]`, `b[port=8080]`, `c[name="true"]`, `d[=1]`, `e[x="1"]`, `e[x=1]`)}}
	for expression, want := range map[string]string{
		"a[name=8080]": `.a[name="8080"]`,
		"b[port=8080]": `.b[port=8080]`,
		"c[name=true]": `.c[name="true"]`,
		"d[=1]":        `.d[=1]`,
		`e[x="1"]`:     `.e[x="1"]`,
	} {
		p, err := ParsePath(expression)
		if err != nil {
			t.Fatal(err)
		}
		if path, err := p.Resolve(o); err != nil || path.Quoted() != want {
			t.Errorf("%s: Resolve() = %s, %v; want %s", expression, path.Quoted(), err, want)
		}
	}
}

func TestPathExpressionErrors(t *testing.T) {
	const containers = "spec.template.spec.containers"
	for expression, want := range map[string]string{
		"":                                `path "": expected the path of a field, such as spec.replicas, received none`,
		".":                               `path .: expected the name of a field, received the end`,
		"spec..x":                         `path spec..x: after spec.: expected the name of a field, received ".x"`,
		"spec.":                           `path spec.: expected the name of a field, received the end`,
		"a[name":                          `path a[name: after a[: expected an item, such as [name=name] or [0], or a name in quotes, ["name"]; received [name]`,
		"a[name=":                         `path a[name=: expected the value of the key name, received the end`,
		"a[name=x":                        `path a[name=x: expected ], received the end`,
		"a[name=x,port]":                  `path a[name=x,port]: after a[name=x,port: expected = and the value of the key port, received "]"`,
		"a[]":                             `path a[]: after a[: expected an item, such as [name=app], [=value] or [0], or a name in quotes, such as ["a.b/c"], received "]"`,
		"a[=]":                            `path a[=]: after a[=: expected the value of an item, received "]"`,
		"a[0]b":                           `path a[0]b: after a[0]: expected . or [, received "b"`,
		`a["x]`:                           `path a["x]: after a[: expected a name or value in quotes, received "x] without a closing quote`,
		`a['x]`:                           `path a['x]: after a[: expected a name or value in quotes, received 'x] without a closing quote`,
		"a[app]":                          `path a[app]: after a[: expected an item, such as [name=app] or [0], or a name in quotes, ["app"]; received [app]`,
		containers + ".image":             `path spec.template.spec.containers.image: after spec.template.spec.containers: expected one of the list's items [name="app"], [name="proxy"], received the field image`,
		containers + "[name=web]":         `path spec.template.spec.containers[name=web]: after spec.template.spec.containers: expected one of the list's items [name="app"], [name="proxy"], received [name=web]`,
		containers + "[7]":                `path spec.template.spec.containers[7]: after spec.template.spec.containers: expected an index less than 3, received 7`,
		containers + "[2]":                `path spec.template.spec.containers[2]: after spec.template.spec.containers: expected an owned item; item 2 has no owner: map {"image":"unowned","name":"other"}`,
		containers + "[name=app].args[0]": `path spec.template.spec.containers[name=app].args[0]: after spec.template.spec.containers[name=app].args: expected the end of the path, because the list is owned as a whole; remove the item`,
		"spec.replicas.x":                 `path spec.replicas.x: after spec.replicas: expected the end of the path, because the field is number 2; received the field x`,
		"spec[name=x]":                    `path spec[name=x]: after spec: expected a list, received map`,
		"metadata.finalizers[name=example.com/a]": `path metadata.finalizers[name=example.com/a]: after metadata.finalizers: expected one of the list's items [="example.com/a"], [="example.com/b"], received [name=example.com/a]`,
		"spec.nothing[0]":                         `path spec.nothing[0]: after spec.nothing: expected a list with items, received no value`,
	} {
		p, err := ParsePath(expression)
		if err == nil {
			_, err = p.Resolve(deployment(t))
		}
		var problem *PathError
		if !errors.As(err, &problem) || !hasPrefix(err.Error(), want) {
			t.Errorf("%s: error =\n%v\nwant\n%s", expression, err, want)
		}
	}
	both := apply.Object{Entries: []apply.Entry{newEntry(t, "ci/Apply", `ports[port=80,protocol="TCP"]`, `ports[port=80,protocol="UDP"]`)}}
	p, _ := ParsePath("ports[port=80]")
	want := `path ports[port=80]: after ports: expected keys of one item, received [port=80], which matches [port=80,protocol="TCP"], [port=80,protocol="UDP"]; add keys`
	if _, err := p.Resolve(both); err == nil || err.Error() != want {
		t.Errorf("Resolve() error = %v, want %s", err, want)
	}
}

func hasPrefix(text, prefix string) bool {
	return len(text) >= len(prefix) && text[:len(prefix)] == prefix
}

// FuzzParsePath checks that ParsePath and Resolve do not panic for any text, and that all their errors are of type
// *PathError.
func FuzzParsePath(f *testing.F) {
	for _, seed := range []string{"spec.replicas", `a["b"]['c'][d=e,f="g"][=1][0]`, `a\.b.c\`, "[", "a[b=", `"x"`} {
		f.Add(seed)
	}
	o := deployment(f)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePath(text)
		if err == nil {
			_, err = p.Resolve(o)
		}
		var problem *PathError
		if err != nil && !errors.As(err, &problem) {
			t.Errorf("%q: error = %v, want a *PathError", text, err)
		}
	})
}

// TestPathExpressionIsIn checks whether a configuration contains the fields of path expressions. Unlike Resolve, IsIn
// can't look up list items in managedFields.
func TestPathExpressionIsIn(t *testing.T) {
	config := readYAML(t, `
metadata: {labels: {a.b: c}, finalizers: [x]}
spec: {replicas: 0, ports: [{port: 80, name: web}, {port: 81, protocol: UDP}], empty: [], nothing: null}`).Document
	for expression, want := range map[string]bool{
		"spec.replicas":                         true,
		"spec.nothing":                          true,
		"spec.other":                            false,
		"spec.replicas.deeper":                  false,
		`metadata.labels["a.b"]`:                true,
		"metadata.labels.a.b":                   false,
		"spec.ports[port=80].name":              true,
		"spec.ports[port=80,protocol=TCP].name": true, // the missing key protocol may be defaulted to TCP
		"spec.ports[port=81,protocol=TCP].port": false,
		"spec.ports[protocol=UDP]":              true,
		"spec.ports[other=1]":                   false,
		"spec.ports[port=81].name":              false,
		"spec.ports[5].name":                    true, // an index refers to the live object, so it may match any item of the configuration
		"spec.ports[5].other":                   false,
		"spec.ports.port":                       false,
		"spec.empty":                            true,
		"spec.empty[0]":                         false,
		"spec[0]":                               false,
		"metadata.finalizers[=x]":               true,
		`metadata.finalizers["x"]`:              true,
		"metadata.finalizers[=y]":               false,
	} {
		p, err := ParsePath(expression)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.IsIn(config); got != want {
			t.Errorf("%s: IsIn() = %v, want %v", expression, got, want)
		}
	}
}
