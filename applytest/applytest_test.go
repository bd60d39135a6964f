package applytest_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/applytest"
	"github.com/cadastre/cadastre/cadastretest"
)

// TestScripts holds our own server to what kube-apiserver answered when the scripts were recorded.
func TestScripts(t *testing.T) {
	applytest.RunTests(t, cadastretest.Start(t))
}

// TestDifferencesAreListed: where our server differs from kube-apiserver on purpose, docs/differences.md says why.
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
		if !strings.Contains(string(listed), "\n### "+script.Difference+"\n") {
			t.Errorf("scripts/%s.txtar: the difference %q is no title in docs/differences.md", script.Name, script.Difference)
		}
	}
	if !found {
		t.Error("no script has a difference: the directive is not read")
	}
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
	// pass conflict/force-from-all
	// pass conflict/force-is-for-apply
	// pass conflict/force-leaves-nobody
	// pass conflict/force-same-value
	// pass conflict/force-takes-over
}

// A server's own tests run all scripts as subtests.
func ExampleRunTests() {
	TestConformance := func(t *testing.T) {
		applytest.RunTests(t, cadastretest.Start(t))
	}
	_ = TestConformance
}
