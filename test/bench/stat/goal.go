package stat

import (
	"fmt"
	"slices"
)

// Finding is a measured figure with the name by which goals refer to it.
type Finding struct {
	Name   string
	Figure Spread
}

// Goal is a bound on the median of a finding.
type Goal struct {
	Text  string
	Of    string // name of the finding
	Bound Bound
	Show  func(float64) string
}

// NewGoal returns a goal with the given fields. Its positional arguments keep tables of goals short.
func NewGoal(text, of string, bound Bound, show func(float64) string) Goal {
	return Goal{Text: text, Of: of, Bound: bound, Show: show}
}

// Found returns a finding with the given fields.
func Found(name string, figure Spread) Finding { return Finding{Name: name, Figure: figure} }

// Bound is a minimum or a maximum of a figure.
type Bound struct {
	kind  boundKind
	value float64
}

type boundKind string

const (
	atLeast boundKind = "at least"
	atMost  boundKind = "at most"
)

// AtLeast returns a bound that a figure meets if it is at least value.
func AtLeast(value float64) Bound { return Bound{atLeast, value} }

// AtMost returns a bound that a figure meets if it is at most value.
func AtMost(value float64) Bound { return Bound{atMost, value} }

// PrintGoals prints for each goal whether the findings meet it.
func PrintGoals(goals []Goal, findings []Finding) {
	fmt.Print("\ngoals\n")
	for _, g := range goals {
		fmt.Println("  " + g.verdict(findings))
	}
}

// verdict returns a line with pass or FAIL, the goal, and the measured figure. If findings contain no such figure, the
// line says "not measured".
func (g Goal) verdict(findings []Finding) string {
	i := slices.IndexFunc(findings, func(f Finding) bool { return f.Name == g.Of })
	if i < 0 {
		return fmt.Sprintf("----  %-48s %s was not measured", g.Text, g.Of)
	}
	word, f := "FAIL", findings[i].Figure
	if g.Bound.holds(f.Median) {
		word = "pass"
	}
	return fmt.Sprintf("%s  %-48s %s, rounds from %s to %s, expected %s %s", word, g.Text,
		g.Show(f.Median), g.Show(f.Min), g.Show(f.Max), g.Bound.kind, g.Show(g.Bound.value))
}

func (b Bound) holds(figure float64) bool {
	if b.kind == atLeast {
		return figure >= b.value
	}
	return figure <= b.value
}
