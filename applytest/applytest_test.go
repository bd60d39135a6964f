package applytest_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cadastre/cadastre/applytest"
	"github.com/cadastre/cadastre/cadastretest"
)

// TestScripts runs the scripts of this package against Cadastre, and compares its responses with the recorded responses
// of kube-apiserver.
func TestScripts(t *testing.T) {
	applytest.RunTests(t, cadastretest.Start(t))
}

// TestDifferencesAreListed checks that, for every script with a deliberate difference from Kubernetes,
// docs/differences.md names the script and states the reason of the difference.
func TestDifferencesAreListed(t *testing.T) {
	listed, err := os.ReadFile("../docs/differences.md")
	if err != nil {
		t.Fatal(err)
	}
	scripts, err := applytest.Scripts(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, script := range scripts {
		if script.Difference == "" {
			continue
		}
		found = true
		_, entry, ok := strings.Cut(string(listed), "\n### "+script.Difference+"\n")
		if !ok {
			t.Errorf("scripts/%s.txtar: the difference %q has no heading in docs/differences.md", script.Name, script.Difference)
		}
		if entry, _, _ = strings.Cut(entry, "\n#"); !strings.Contains(entry, "`"+script.Name+"`") {
			t.Errorf("docs/differences.md: the section %q does not name the script %s", script.Difference, script.Name)
		}
	}
	if !found {
		t.Error("Scripts() returned no script with a difference; the directive difference is not parsed")
	}
}

// TestPageHasAllScripts checks that docs/conformance.md lists the current scripts: after a change of the scripts, the
// page must be generated again.
func TestPageHasAllScripts(t *testing.T) {
	page, err := os.ReadFile("../docs/conformance.md")
	if err != nil {
		t.Fatal(err)
	}
	scripts, err := applytest.Scripts(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, script := range scripts {
		area, _, _ := strings.Cut(script.Name, "/")
		count[area]++
	}
	for area, n := range count {
		if !strings.Contains(string(page), fmt.Sprintf("\n| %s | %d |", area, n)) {
			t.Errorf("docs/conformance.md: expected %d scripts in %s; run make conformance, which writes the page", n, area)
		}
	}
}

// TestDocumentation runs the script in the package documentation (doc.go).
func TestDocumentation(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, documented, _ := strings.Cut(string(text), "// # Scripts\n")
	var script strings.Builder
	for line := range strings.Lines(documented) {
		code, isCode := strings.CutPrefix(line, "//\t")
		switch {
		case isCode:
			script.WriteString(code)
		case line == "//\n":
			script.WriteString("\n")
		case script.Len() > 100: // the lines that follow are not part of the script
			report, err := applytest.Run(t.Context(), applytest.Options{
				Config:  cadastretest.Start(t),
				Scripts: fstest.MapFS{"doc/example.txtar": {Data: []byte(strings.TrimLeft(script.String(), "\n"))}},
			})
			if err != nil || report.Count(applytest.Pass) != 1 {
				t.Errorf("Run() = %v, %+v, want a pass for\n%s", err, report, script.String())
			}
			return
		}
	}
	t.Error("found no script in doc.go")
}

func ExampleRun() {
	config, stop, err := cadastretest.Open()
	if err != nil {
		log.Fatal(err)
	}
	report, err := applytest.Run(context.Background(), applytest.Options{
		Config: config,
		Run:    regexp.MustCompile("^conflict/force-"),
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, result := range report.Results {
		fmt.Println(result.Outcome, result.Name)
	}
	if err := stop(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// pass conflict/force-from-all-owners
	// pass conflict/force-only-for-apply
	// pass conflict/force-removes-empty-entry
	// pass conflict/force-same-value
	// pass conflict/force-takes-over
}

// ExampleRunTests shows the test of an API server that runs every script as a subtest.
func ExampleRunTests() {
	TestConformance := func(t *testing.T) {
		applytest.RunTests(t, cadastretest.Start(t))
	}
	_ = TestConformance
}
