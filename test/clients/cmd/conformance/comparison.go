package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"unicode"

	"github.com/cadastre/cadastre/applytest"
)

// comparison has the results of the same scripts on both servers.
type comparison struct {
	theirs, ours *applytest.Report
}

// The names of the servers in the output.
const theirName, ourName = "kube-apiserver", "Cadastre"

// both iterates over the results of script i by server.
func (c comparison) both(i int) iter.Seq2[string, applytest.Result] {
	return func(yield func(string, applytest.Result) bool) {
		_ = yield(theirName, c.theirs.Results[i]) && yield(ourName, c.ours.Results[i])
	}
}

// print prints failures, scripts that only one server skipped, and the totals.
func (c comparison) print(w io.Writer) {
	fmt.Fprintln(w)
	for i, theirs := range c.theirs.Results {
		ours := c.ours.Results[i]
		for where, result := range c.both(i) {
			if result.Outcome == applytest.Fail {
				fmt.Fprintf(w, "%s FAILS %s%s\n  %s\n%s\n", where, result.Name, inBrackets(result.Defect), result.Behaviour, result.Failure)
			} else if result.Defect != "" && result.Outcome == applytest.Pass {
				fmt.Fprintf(w, "%s passes %s: remove the line about the defect\n", where, result.Name)
			}
		}
		if (theirs.Outcome == applytest.Skip) != (ours.Outcome == applytest.Skip) {
			fmt.Fprintf(w, "skipped on one server: %s: %s: %s%s, %s: %s%s\n",
				theirs.Name, theirName, theirs.Outcome, inBrackets(theirs.Reason), ourName, ours.Outcome, inBrackets(ours.Reason))
		}
	}
	printLeftovers(w, theirName, c.theirs)
	printLeftovers(w, ourName, c.ours)
	fmt.Fprintf(w, "%s %s: %s\n", theirName, c.theirs.Version, tally(c.theirs))
	fmt.Fprintf(w, "%s %s: %s\n", ourName, c.ours.Version, tally(c.ours))
}

// printLeftovers prints the objects that could not be deleted from a server.
func printLeftovers(w io.Writer, where string, report *applytest.Report) {
	for _, left := range report.Leftovers {
		fmt.Fprintf(w, "not deleted from %s: %s: %s\n", where, left.Path, left.Reason)
	}
}

func inBrackets(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}

func tally(r *applytest.Report) string {
	return fmt.Sprintf("%d pass, %d fail, %d skip", r.Count(applytest.Pass), r.Count(applytest.Fail), r.Count(applytest.Skip))
}

const introduction = `# Conformance

Written by ` + "`make conformance`" + `, which runs every behaviour script of ` + "`applytest`" + ` against the real kube-apiserver and
against Cadastre. A script is a text file in ` + "`applytest/scripts`" + ` that says what is asked and what must be answered;
what is expected was recorded from kube-apiserver. [` + "`cadastre conformance`" + `](conformance-of-servers.md) asks the same of any
server that a kubeconfig names; [the language of the scripts](scripts.md) is documented.

`

// document returns the text of docs/conformance.md. It is the same for runs with the same results.
func (c comparison) document() []byte {
	var text bytes.Buffer
	text.WriteString(introduction)
	fmt.Fprintf(&text, "| | version | pass | fail | skip |\n|---|---|---:|---:|---:|\n")
	for _, row := range []struct {
		name   string
		report *applytest.Report
	}{{theirName, c.theirs}, {ourName, c.ours}} {
		fmt.Fprintf(&text, "| %s | %s | %d | %d | %d |\n", row.name, row.report.Version,
			row.report.Count(applytest.Pass), row.report.Count(applytest.Fail), row.report.Count(applytest.Skip))
	}
	c.writeAreas(&text)
	c.writeDifferences(&text)
	c.writeSkipped(&text)
	c.writeFailures(&text)
	return text.Bytes()
}

func (c comparison) writeAreas(text *bytes.Buffer) {
	text.WriteString("\n## Areas\n\n| area | scripts | same answers | deliberate differences | on one server only | failures |\n|---|---:|---:|---:|---:|---:|\n")
	for _, area := range c.theirs.Areas() {
		var same, differ, alone, failed int
		for _, theirs := range area.Results {
			switch ours := c.ourResult(theirs.Name); {
			case theirs.Outcome == applytest.Fail || ours.Outcome == applytest.Fail:
				failed++
			case theirs.Outcome == applytest.Skip || ours.Outcome == applytest.Skip:
				alone++
			case ours.Difference != "":
				differ++
			default:
				same++
			}
		}
		fmt.Fprintf(text, "| %s | %d | %d | %d | %d | %d |\n", area.Name, len(area.Results), same, differ, alone, failed)
	}
}

// ourResult returns our result of a script.
func (c comparison) ourResult(name string) applytest.Result {
	i := slices.IndexFunc(c.ours.Results, func(r applytest.Result) bool { return r.Name == name })
	return c.ours.Results[i]
}

func (c comparison) writeDifferences(text *bytes.Buffer) {
	text.WriteString("\n## Deliberate differences\n\n")
	found := false
	for _, ours := range c.ours.Results {
		if ours.Difference != "" {
			found = true
			fmt.Fprintf(text, "- `%s`: %s ([why](differences.md#%s))\n", ours.Name, ours.Difference, anchor(ours.Difference))
		}
	}
	if !found {
		text.WriteString("None in these scripts. [Differences](differences.md) has those that other tests show.\n")
	}
}

// anchor returns the anchor of a Markdown heading.
func anchor(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, title)
}

func (c comparison) writeSkipped(text *bytes.Buffer) {
	text.WriteString("\n## Asked of one server only\n\n")
	found := false
	for i := range c.theirs.Results {
		for where, result := range c.both(i) {
			if result.Outcome == applytest.Skip {
				found = true
				fmt.Fprintf(text, "- `%s` is not asked of %s: %s\n", result.Name, where, result.Reason)
			}
		}
	}
	if !found {
		text.WriteString("None.\n")
	}
}

func (c comparison) writeFailures(text *bytes.Buffer) {
	if c.theirs.Count(applytest.Fail)+c.ours.Count(applytest.Fail) == 0 {
		return
	}
	text.WriteString("\n## Failures\n\n")
	for i := range c.theirs.Results {
		for where, result := range c.both(i) {
			if result.Outcome == applytest.Fail {
				fmt.Fprintf(text, "- `%s` on %s, step %q: %s\n", result.Name, where, result.Failure.Step, cmp.Or(result.Defect, oneLine(result.Behaviour)))
			}
		}
	}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
