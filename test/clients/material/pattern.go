package material

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// matchingString returns a string of at least minLength bytes that matches pattern. If pattern is complex, the result
// may be shorter or not match.
func matchingString(pattern string, minLength int) string {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return pattern // the server will reject the CustomResourceDefinition
	}
	expression, made := regexp.MustCompile(pattern), ""
	for repeat := range minLength + 1 {
		made = expand(tree, repeat)
		if len(made) >= minLength && expression.MatchString(made) {
			return made
		}
	}
	return made
}

// expand returns a string that matches e. Every repeatable part is repeated repeat times more than its minimum.
func expand(e *syntax.Regexp, repeat int) string {
	switch e.Op {
	case syntax.OpLiteral:
		return string(e.Rune)
	case syntax.OpCharClass:
		return string(member(e.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "a"
	case syntax.OpCapture:
		return expand(e.Sub[0], repeat)
	case syntax.OpStar:
		return strings.Repeat(expand(e.Sub[0], 0), repeat)
	case syntax.OpPlus:
		return strings.Repeat(expand(e.Sub[0], 0), repeat+1)
	case syntax.OpRepeat:
		times := e.Min + repeat
		if e.Max >= 0 {
			times = min(times, e.Max)
		}
		return strings.Repeat(expand(e.Sub[0], 0), times)
	case syntax.OpAlternate:
		return expand(e.Sub[0], repeat)
	case syntax.OpConcat:
		var made strings.Builder
		for _, part := range e.Sub {
			made.WriteString(expand(part, repeat))
		}
		return made.String()
	default:
		return "" // anchors and optional parts add nothing to the string
	}
}

// member returns a character of the class ranges: the first of a, 1 and A that the class contains, or the first
// character of the class if it contains none of them.
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
