package applytest

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
)

// These types are the subset of JUnit's XML format that most JUnit tools support.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Skipped  int          `xml:"skipped,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Time     string      `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		Time    string        `xml:"time,attr"`
		Failure *junitMessage `xml:"failure,omitempty"`
		Error   *junitMessage `xml:"error,omitempty"`
		Skipped *junitMessage `xml:"skipped,omitempty"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes the report as JUnit XML, with one test suite per area of scripts.
func (r *Report) WriteJUnit(w io.Writer) error {
	suites := junitSuites{Name: strings.TrimSpace("applytest " + r.Version), Tests: len(r.Results), Failures: r.Count(Fail), Skipped: r.Count(Skip)}
	for _, area := range r.Areas() {
		suites.Suites = append(suites.Suites, area.junit())
	}
	if run := r.junitOfRun(); run.Errors > 0 {
		suites.Tests += run.Tests
		suites.Errors = run.Errors
		suites.Suites = append(suites.Suites, run)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(suites); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// junitOfRun returns a test suite for the run as a whole. The suite contains an error if the run was stopped, and another
// one if it left objects on the server.
func (r *Report) junitOfRun() junitSuite {
	run := junitSuite{Name: "run", Time: seconds(0)}
	add := func(name, text string) {
		run.Cases = append(run.Cases, junitCase{Name: name, Class: "applytest", Time: seconds(0), Error: &junitMessage{Message: text}})
		run.Tests, run.Errors = run.Tests+1, run.Errors+1
	}
	switch {
	case r.Stopped != "" && len(r.Results) == 0:
		add("all scripts", "no script ran: "+r.Stopped)
	case r.Stopped != "":
		add("all scripts", fmt.Sprintf("the run was stopped after %d of %d scripts: %s", len(r.Results), r.Scripts, r.Stopped))
	}
	if len(r.Leftovers) > 0 {
		var left []string
		for _, l := range r.Leftovers {
			left = append(left, l.Path+": "+l.Reason)
		}
		add("removal", fmt.Sprintf("%d objects could not be deleted: %s", len(r.Leftovers), strings.Join(left, "; ")))
	}
	return run
}

func (a Area) junit() junitSuite {
	suite := junitSuite{Name: a.Name, Tests: len(a.Results), Failures: count(a.Results, Fail), Skipped: count(a.Results, Skip)}
	var all time.Duration
	for _, result := range a.Results {
		all += result.Duration
		test := junitCase{Name: strings.TrimPrefix(result.Name, a.Name+"/"), Class: "applytest." + a.Name, Time: seconds(result.Duration)}
		switch result.Outcome {
		case Fail:
			test.Failure = &junitMessage{strings.Join(result.Failure.Complaints, "; "), result.Failure.String()}
		case Skip:
			test.Skipped = &junitMessage{Message: result.Reason}
		}
		suite.Cases = append(suite.Cases, test)
	}
	suite.Time = seconds(all)
	return suite
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
