package stat

import (
	"fmt"
	"slices"
)

// A Finding is a figure that a goal may be about.
type Finding struct {
	Name   string
	Figure Spread
}

// A Goal is a bound of a finding, for the median of its rounds.
type Goal struct {
	Text  string
	Of    string // the finding
	Bound Bound
	Show  func(float64) string
}

// NewGoal is for tables of goals, where the names of fields would only be noise.
func NewGoal(text, of string, bound Bound, show func(float64) string) Goal {
	return Goal{Text: text, Of: of, Bound: bound, Show: show}
}

// Found makes a finding, as [NewGoal] makes a goal.
func Found(name string, figure Spread) Finding { return Finding{Name: name, Figure: figure} }

// A Bound is the least that a figure may be, or the most.
type Bound struct {
	kind  boundKind
	value float64
}

type boundKind string

const (
	atLeast boundKind = "at least"
	atMost  boundKind = "at most"
)

// AtLeast is the bound of a figure that must not be less.
func AtLeast(value float64) Bound { return Bound{atLeast, value} }

// AtMost is the bound of a figure that must not be more.
func AtMost(value float64) Bound { return Bound{atMost, value} }

// PrintGoals says of each goal whether it is met.
func PrintGoals(goals []Goal, findings []Finding) {
	fmt.Print("\ngoals\n")
	for _, g := range goals {
		fmt.Println("  " + g.verdict(findings))
	}
}

// verdict says whether the goal is met, and by how much.
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
		g.Show(f.Median), g.Show(f.Least), g.Show(f.Most), g.Bound.kind, g.Show(g.Bound.value))
}

func (b Bound) holds(figure float64) bool {
	if b.kind == atLeast {
		return figure >= b.value
	}
	return figure <= b.value
}
