package builtin

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/document"
)

// TestWarnings replays kube-apiserver's warnings about valid objects, word for word and in order.
func TestWarnings(t *testing.T) {
	warned, quiet := 0, 0
	forVerdicts(t, "warnings.txt.gz", 1, func(c verdictCase) bool {
		ours := c.t.Warnings(c.doc, c.old)
		switch c.verb {
		case "warn create":
			ours = append(c.t.RequestWarnings(c.doc), ours...)
		case "warn status":
			ours = c.t.StatusWarnings(c.doc, c.old)
		}
		if !slices.Equal(ours, c.messages) {
			t.Errorf("%s %s %s:\n ours   %q\n theirs %q", c.verb, c.object, c.change, ours, c.messages)
		}
		if len(c.messages) > 0 {
			warned++
		} else {
			quiet++
		}
		return true
	})
	t.Logf("%d with warnings, %d without", warned, quiet)
	if warned < 1000 || quiet < 100 {
		t.Errorf("%d cases with warnings and %d without, want at least 1000 and 100", warned, quiet)
	}
}

// TestManyWarnings checks that warnings are limited, and that objects with many are processed in bounded time.
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
			t.Errorf("%s: %d warnings, want %d", name, n, maxWarnings)
		}
	}
}

func repeatText(n int, text string) string { return strings.Repeat(text+",", n-1) + text }

// TestManyDifferentPorts checks that many distinct ports yield no warning.
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
		t.Errorf("warnings %q, want none", found)
	}
}
