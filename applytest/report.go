package applytest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
)

// Outcome is the outcome of a script: [Pass], [Fail] or [Skip].
type Outcome string

// The outcomes of a script.
const (
	Pass Outcome = "pass"
	Fail Outcome = "fail"
	Skip Outcome = "skip"
)

// Report contains the results of a run.
type Report struct {
	Server         string `json:"server"`
	Version        string `json:"version"`
	Implementation string `json:"implementation"`
	// Scripts is the number of selected scripts. If the run was stopped, Results contains fewer results than Scripts,
	// and Stopped is the reason.
	Scripts int      `json:"scripts"`
	Stopped string   `json:"stopped,omitempty"`
	Results []Result `json:"results"`
	// Leftovers are the objects that the run created and could not delete.
	Leftovers []Leftover `json:"left,omitempty"`
}

// Result is the outcome of one script.
type Result struct {
	Name      string        `json:"name"`
	Area      string        `json:"area"`
	Behaviour string        `json:"behaviour"`
	Outcome   Outcome       `json:"outcome"`
	Duration  time.Duration `json:"nanoseconds"`
	// Namespace is the namespace of the script, if Options.Keep was set.
	Namespace string `json:"namespace,omitempty"`
	// Reason is the reason why the script was skipped; empty if it was not skipped.
	Reason string `json:"reason,omitempty"`
	// Difference is the reason why this implementation deliberately differs from Kubernetes in this behaviour; empty if it does
	// not differ.
	Difference string `json:"difference,omitempty"`
	// Defect describes a known defect of this implementation in this behaviour; empty if none is known. A known defect does not
	// change the outcome: the script still fails.
	Defect  string   `json:"defect,omitempty"`
	Failure *Failure `json:"failure,omitempty"`
}

// Failure describes the first step whose response did not meet the expectations.
type Failure struct {
	Step       string   `json:"step"`
	Complaints []string `json:"complaints"`
	// Request is a curl command that repeats the request, without credentials; Answer is the server's response.
	Request string `json:"request,omitempty"`
	Answer  string `json:"answer,omitempty"`
	// err is the underlying error if there was no response to evaluate.
	err error
}

// newFailure returns the Failure of a request that got no response because of err. curl is the command that repeats the
// request.
func newFailure(err error, curl string) *Failure {
	return &Failure{Complaints: []string{err.Error()}, Request: curl, err: err}
}

func (r *Result) skip(reason string) { r.Outcome, r.Reason = Skip, reason }

// finish sets the outcome of a script that ended with the failure f: Skip if the user lacks a permission, and Fail in all
// other cases.
func (r *Result) finish(f *Failure) {
	if denied := (*permissionError)(nil); errors.As(f.err, &denied) {
		r.skip(denied.Error())
		return
	}
	r.Outcome, r.Failure = Fail, f
}

// String returns the failure as multi-line text.
func (f *Failure) String() string {
	if f.Step == "" {
		return strings.Join(f.Complaints, "\n") + "\n" // the failure occurred before the first step
	}
	var text strings.Builder
	fmt.Fprintf(&text, "step %q:\n", f.Step)
	for _, complaint := range f.Complaints {
		fmt.Fprintf(&text, "  %s\n", complaint)
	}
	if f.Answer != "" {
		fmt.Fprintf(&text, "  answer:  %s\n", f.Answer)
	}
	if f.Request != "" {
		fmt.Fprintf(&text, "  request: %s\n", f.Request)
	}
	return text.String()
}

// Count returns the number of scripts with the given outcome.
func (r *Report) Count(outcome Outcome) int { return count(r.Results, outcome) }

func count(results []Result, outcome Outcome) int {
	n := 0
	for _, result := range results {
		if result.Outcome == outcome {
			n++
		}
	}
	return n
}

// Area contains the results of the scripts in one folder, such as conflict.
type Area struct {
	Name    string
	Results []Result
}

// Areas groups the results by area, sorted by the name of the area.
func (r *Report) Areas() []Area {
	var areas []Area
	for _, result := range r.Results {
		i := slices.IndexFunc(areas, func(a Area) bool { return a.Name == result.Area })
		if i < 0 {
			i = len(areas)
			areas = append(areas, Area{Name: result.Area})
		}
		areas[i].Results = append(areas[i].Results, result)
	}
	slices.SortFunc(areas, func(a, b Area) int { return strings.Compare(a.Name, b.Name) })
	return areas
}

// WriteTable writes the report as text: failures, skips with their reasons, and a table with the number of outcomes per area.
func (r *Report) WriteTable(w io.Writer) error {
	w = escapingWriter{w}
	text := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, result := range r.Results {
		switch result.Outcome {
		case Fail:
			fmt.Fprintf(w, "FAIL %s\n%s%s\n", result.Name, indent(result.Behaviour), indent(result.Failure.String()))
			if result.Defect != "" {
				fmt.Fprintf(w, "  known defect: %s\n\n", result.Defect)
			}
		case Skip:
			fmt.Fprintf(w, "SKIP %s: %s\n", result.Name, result.Reason)
		}
	}
	for _, left := range r.Leftovers {
		fmt.Fprintf(w, "LEFT %s: %s\n", left.Path, left.Reason)
	}
	fmt.Fprintf(w, "\n%s at %s\n\n", r.Version, r.Server)
	fmt.Fprintln(text, "area\tpass\tfail\tskip")
	for _, area := range r.Areas() {
		fmt.Fprintf(text, "%s\t%4d\t%4d\t%4d\n", area.Name, count(area.Results, Pass), count(area.Results, Fail), count(area.Results, Skip))
	}
	fmt.Fprintf(text, "all\t%4d\t%4d\t%4d\n", r.Count(Pass), r.Count(Fail), r.Count(Skip))
	if missing := r.Scripts - len(r.Results); missing > 0 {
		fmt.Fprintf(text, "\nThe run was stopped: %d of %d scripts were not completed.\n", missing, r.Scripts)
	}
	return text.Flush()
}

// escapingWriter is a writer that escapes control characters, so that a server cannot send them to the terminal.
type escapingWriter struct{ w io.Writer }

func (p escapingWriter) Write(text []byte) (int, error) {
	var shown strings.Builder
	for _, r := range string(text) {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			shown.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		} else {
			shown.WriteRune(r)
		}
	}
	_, err := io.WriteString(p.w, shown.String())
	return len(text), err
}

func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ") + "\n"
}

// WriteJSON writes the report as JSON.
func (r *Report) WriteJSON(w io.Writer) error {
	whole := *r
	if whole.Results == nil {
		whole.Results = []Result{} // an empty slice, which is encoded as [] and not as null
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(whole)
}
