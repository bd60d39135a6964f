package applytest

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"slices"
	"strings"
	"testing"
)

var example = &Report{
	Server: "https://example.com", Version: "v1.37.0", Implementation: Kubernetes,
	Results: []Result{
		{Name: "removal/one", Area: "removal", Behaviour: "It goes.", Outcome: Pass},
		{Name: "conflict/two", Area: "conflict", Behaviour: "It is told.", Outcome: Fail,
			Failure: &Failure{Step: "bob", Complaints: []string{"answer: expected status 409 & <more>"}, Request: "curl", Answer: "200 {}"}},
		{Name: "conflict/three", Area: "conflict", Behaviour: "It flies.", Outcome: Skip, Reason: "no wings"},
	},
}

func TestTable(t *testing.T) {
	var text bytes.Buffer
	if err := example.WriteTable(&text); err != nil {
		t.Fatal(err)
	}
	const want = `FAIL conflict/two
  It is told.
  step "bob":
    answer: expected status 409 & <more>
    answer:  200 {}
    request: curl

SKIP conflict/three: no wings

v1.37.0 at https://example.com

area      pass  fail  skip
conflict     0     1     1
removal      1     0     0
all          1     1     1
`
	if text.String() != want {
		t.Errorf("WriteTable() wrote\n%s, want\n%s", text.String(), want)
	}
}

func TestReportFiles(t *testing.T) {
	var text bytes.Buffer
	if err := example.WriteJSON(&text); err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(text.Bytes(), &back); err != nil || back.Count(Fail) != 1 || back.Results[2].Reason != "no wings" {
		t.Errorf("decoded report = %v, %v, want one failure, and the skip with its reason", back, err)
	}
	text.Reset()
	if err := (&Report{Stopped: "no"}).WriteJSON(&text); err != nil || !strings.Contains(text.String(), `"results": []`) {
		t.Errorf("WriteJSON() = %v, %s, want an empty list of results", err, text.String())
	}
	text.Reset()
	if err := example.WriteJUnit(&text); err != nil {
		t.Fatal(err)
	}
	var suites junitSuites
	if err := xml.Unmarshal(text.Bytes(), &suites); err != nil {
		t.Fatal(err)
	}
	conflict := suites.Suites[0]
	if suites.Tests != 3 || conflict.Name != "conflict" || conflict.Failures != 1 || conflict.Cases[1].Skipped.Message != "no wings" ||
		!strings.Contains(conflict.Cases[0].Failure.Text, "409 & <more>") {
		t.Errorf("suites = %+v, want 3 tests, and the suite conflict with one failure and one skip", suites)
	}
}

// TestJUnitOfRun checks that a stopped run and leftovers are errors in the JUnit report.
func TestJUnitOfRun(t *testing.T) {
	one := []Result{{Name: "a/b", Area: "a", Outcome: Pass}}
	for _, test := range []struct {
		name   string
		report Report
		want   []string
	}{
		{"whole", Report{Scripts: 1, Results: one}, nil},
		{"stopped", Report{Scripts: 2, Results: one, Stopped: "interrupted"}, []string{"the run was stopped after 1 of 2 scripts: interrupted"}},
		{"never begun", Report{Stopped: "nobody answers"}, []string{"no script ran: nobody answers"}},
		{"left", Report{Scripts: 1, Results: one, Leftovers: []Leftover{{"/api/v1/x", "it stays"}}}, []string{"1 objects could not be deleted: /api/v1/x: it stays"}},
		{"both", Report{Scripts: 2, Results: one, Stopped: "gone", Leftovers: []Leftover{{"/y", "gone"}}},
			[]string{"the run was stopped after 1 of 2 scripts: gone", "1 objects could not be deleted: /y: gone"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var text bytes.Buffer
			if err := test.report.WriteJUnit(&text); err != nil {
				t.Fatal(err)
			}
			var suites junitSuites
			if err := xml.Unmarshal(text.Bytes(), &suites); err != nil {
				t.Fatal(err)
			}
			var errs []string
			for _, suite := range suites.Suites {
				for _, c := range suite.Cases {
					if c.Error != nil {
						errs = append(errs, c.Error.Message)
					}
				}
			}
			if !slices.Equal(errs, test.want) || suites.Errors != len(errs) || suites.Tests != len(test.report.Results)+len(errs) {
				t.Errorf("errors = %q, %d errors of %d tests, want %q", errs, suites.Errors, suites.Tests, test.want)
			}
		})
	}
}

// TestTableIsPrintable checks that WriteTable escapes control characters that a server has sent.
func TestTableIsPrintable(t *testing.T) {
	var text bytes.Buffer
	if err := (&Report{Version: "v1\x1b[31m\u009b2J\rred"}).WriteTable(&text); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), `v1\x1b[31m\u009b2J\rred`) {
		t.Errorf("WriteTable() wrote %q, want escaped control characters", text.String())
	}
}
