package material

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// matching makes a string that matches a pattern and is not shorter than that, or something near if it can't.
func matching(pattern string, shortest int) string {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return pattern // the definition will be refused
	}
	expression, made := regexp.MustCompile(pattern), ""
	for repeat := range shortest + 1 {
		made = spell(tree, repeat)
		if len(made) >= shortest && expression.MatchString(made) {
			return made
		}
	}
	return made
}

// spell writes what an expression stands for. What may be repeated is repeated so often.
func spell(e *syntax.Regexp, repeat int) string {
	switch e.Op {
	case syntax.OpLiteral:
		return string(e.Rune)
	case syntax.OpCharClass:
		return string(member(e.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "a"
	case syntax.OpCapture:
		return spell(e.Sub[0], repeat)
	case syntax.OpStar:
		return strings.Repeat(spell(e.Sub[0], 0), repeat)
	case syntax.OpPlus:
		return strings.Repeat(spell(e.Sub[0], 0), repeat+1)
	case syntax.OpRepeat:
		times := e.Min + repeat
		if e.Max >= 0 {
			times = min(times, e.Max)
		}
		return strings.Repeat(spell(e.Sub[0], 0), times)
	case syntax.OpAlternate:
		return spell(e.Sub[0], repeat)
	case syntax.OpConcat:
		var made strings.Builder
		for _, part := range e.Sub {
			made.WriteString(spell(part, repeat))
		}
		return made.String()
	default:
		return "" // what stands for a place, and what may be left out
	}
}

// member is a character of a class, an ordinary one if it has any.
func member(ranges []rune) rune {
	ordinary := slices.IndexFunc([]rune("a1A"), func(r rune) bool {
		for i := 0; i < len(ranges); i += 2 {
			if ranges[i] <= r && r <= ranges[i+1] {
				return true
			}
		}
		return false
	})
	if ordinary >= 0 {
		return []rune("a1A")[ordinary]
	}
	return ranges[0]
}
