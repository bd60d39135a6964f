package applytest_test

import (
	"context"
	"fmt"
	"log"
	"regexp"
	"testing"

	"github.com/cadastre/cadastre/applytest"
	"github.com/cadastre/cadastre/cadastretest"
)

// TestScripts holds our own server to what kube-apiserver answered when the scripts were recorded.
func TestScripts(t *testing.T) {
	applytest.RunTests(t, cadastretest.Start(t))
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
