package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/applytest"
)

// A comparison is the same scripts, run on both servers.
type comparison struct {
	theirs, ours *applytest.Report
}

// print tells what failed where, and how many of each area passed.
func (c comparison) print(w io.Writer) {
	fmt.Fprintln(w)
	for i, theirs := range c.theirs.Results {
		ours := c.ours.Results[i]
		for _, failed := range []struct {
			where  string
			result applytest.Result
		}{{"kube-apiserver", theirs}, {"cadastre", ours}} {
			if failed.result.Outcome == applytest.Fail {
				fmt.Fprintf(w, "%s FAILS %s%s\n  %s\n%s\n", failed.where, theirs.Name, inBrackets(failed.result.Defect), theirs.Behaviour, failed.result.Failure)
			} else if failed.result.Defect != "" && failed.result.Outcome == applytest.Pass {
				fmt.Fprintf(w, "%s passes %s: remove the line about the defect\n", failed.where, theirs.Name)
			}
		}
		if (theirs.Outcome == applytest.Skip) != (ours.Outcome == applytest.Skip) {
			fmt.Fprintf(w, "skipped by one: %s: kube-apiserver: %s%s, cadastre: %s%s\n",
				theirs.Name, theirs.Outcome, inBrackets(theirs.Reason), ours.Outcome, inBrackets(ours.Reason))
		}
	}
	fmt.Fprintf(w, "kube-apiserver %s: %s\n", c.theirs.Version, tally(c.theirs))
	fmt.Fprintf(w, "cadastre %s: %s\n", c.ours.Version, tally(c.ours))
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
what is expected was recorded from kube-apiserver. ` + "`cadastre conformance`" + ` asks the same of any server that a kubeconfig
names; the language of the scripts is in the documentation of the package.

`

// document is docs/conformance.md. It has nothing in it that differs between two runs with the same answers.
func (c comparison) document() []byte {
	var text bytes.Buffer
	text.WriteString(introduction)
	fmt.Fprintf(&text, "| | version | pass | fail | skip |\n|---|---|---:|---:|---:|\n")
	for _, row := range []struct {
		name   string
		report *applytest.Report
	}{{"kube-apiserver", c.theirs}, {"Cadastre", c.ours}} {
		fmt.Fprintf(&text, "| %s | %s | %d | %d | %d |\n", row.name, row.report.Version,
			row.report.Count(applytest.Pass), row.report.Count(applytest.Fail), row.report.Count(applytest.Skip))
	}
	c.writeAreas(&text)
	c.writeDifferences(&text)
	c.writeAlone(&text)
	c.writeFailures(&text)
	return text.Bytes()
}

func (c comparison) writeAreas(text *bytes.Buffer) {
	text.WriteString("\n## Areas\n\n| area | scripts | same answers | deliberate differences | on one server only | failures |\n|---|---:|---:|---:|---:|---:|\n")
	for _, area := range c.theirs.Areas() {
		var same, differ, alone, failed int
		for _, theirs := range area.Results {
			switch ours := c.of(theirs.Name); {
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

// of is our result of a script.
func (c comparison) of(name string) applytest.Result {
	i := slices.IndexFunc(c.ours.Results, func(r applytest.Result) bool { return r.Name == name })
	return c.ours.Results[i]
}

func (c comparison) writeDifferences(text *bytes.Buffer) {
	text.WriteString("\n## Deliberate differences\n\n")
	found := false
	for _, ours := range c.ours.Results {
		if ours.Difference != "" {
			found = true
			fmt.Fprintf(text, "- `%s`: %s ([why](differences.md))\n", ours.Name, ours.Difference)
		}
	}
	if !found {
		text.WriteString("None in these scripts. [Differences](differences.md) has those that other tests show.\n")
	}
}

func (c comparison) writeAlone(text *bytes.Buffer) {
	text.WriteString("\n## Asked of one server only\n\n")
	found := false
	for i, theirs := range c.theirs.Results {
		ours := c.ours.Results[i]
		for _, skipped := range []struct {
			where  string
			result applytest.Result
		}{{"kube-apiserver", theirs}, {"Cadastre", ours}} {
			if skipped.result.Outcome == applytest.Skip {
				found = true
				fmt.Fprintf(text, "- `%s` is not asked of %s: %s\n", theirs.Name, skipped.where, skipped.result.Reason)
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
	for i, theirs := range c.theirs.Results {
		for _, result := range []applytest.Result{theirs, c.ours.Results[i]} {
			if result.Outcome == applytest.Fail {
				fmt.Fprintf(text, "- `%s`, step %q: %s\n", result.Name, result.Failure.Step, cmp.Or(result.Defect, oneLine(result.Behaviour)))
			}
		}
	}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
