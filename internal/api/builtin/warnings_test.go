package builtin

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/document"
)

// TestWarnings checks that the warnings about valid objects have the text and order of the warnings recorded from
// kube-apiserver.
func TestWarnings(t *testing.T) {
	warned, quiet := 0, 0
	forEachVerdict(t, "warnings.txt.gz", 1, func(c verdictCase) bool {
		got := c.t.Warnings(c.doc, c.old)
		switch c.verb {
		case "warn create":
			got = append(c.t.RequestWarnings(c.doc), got...)
		case "warn status":
			got = c.t.StatusWarnings(c.doc, c.old)
		}
		if !slices.Equal(got, c.messages) {
			t.Errorf("warnings for %s of %s with %s:\ngot  %q\nwant %q", c.verb, c.object, c.change, got, c.messages)
		}
		if len(c.messages) > 0 {
			warned++
		} else {
			quiet++
		}
		return true
	})
	t.Logf("%d cases with warnings, %d without", warned, quiet)
	if warned < 1000 || quiet < 100 {
		t.Errorf("recorded cases: got %d with warnings and %d without, want at least 1000 and 100", warned, quiet)
	}
}

// TestManyWarnings checks that the number of warnings is limited, and that the time to compute them is not quadratic in the
// size of the object.
func TestManyWarnings(t *testing.T) {
	typ, _ := Builtin("io.k8s.api.core.v1.PodTemplate")
	const many = 50_000
	for name, spec := range map[string]string{
		"ports":   `{"containers":[{"name":"c","ports":[` + repeatText(many, `{"containerPort":80,"name":"a"}`) + `]}]}`,
		"env":     `{"containers":[{"name":"c","env":[` + repeatText(many, `{"name":"A"}`) + `]}]}`,
		"aliases": `{"hostAliases":[` + repeatText(many, `{"ip":"1.2.3.4"}`) + `]}`,
		"files":   `{"volumes":[{"name":"v","configMap":{"items":[` + repeatText(many, `{"path":"a/b"}`) + `]}}]}`,
	} {
		doc, err := document.ParseJSON([]byte(`{"metadata":{},"template":{"spec":` + spec + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		if n := len(typ.Warnings(doc, document.Value{})); n != maxWarnings {
			t.Errorf("Warnings() of many %s: got %d warnings, want %d", name, n, maxWarnings)
		}
	}
}

func repeatText(n int, text string) string { return strings.Repeat(text+",", n-1) + text }

// TestManyDifferentPorts checks that there are no warnings about many distinct ports.
func TestManyDifferentPorts(t *testing.T) {
	typ, _ := Builtin("io.k8s.api.core.v1.PodTemplate")
	var ports []string
	for i := range 20_000 {
		ports = append(ports, fmt.Sprintf(`{"containerPort":%d,"name":"p%d"}`, i, i))
	}
	doc, err := document.ParseJSON([]byte(`{"metadata":{},"template":{"spec":{"containers":[{"ports":[` + strings.Join(ports, ",") + `]}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if found := typ.Warnings(doc, document.Value{}); len(found) > 0 {
		t.Errorf("Warnings() of distinct ports = %q, want none", found)
	}
}
