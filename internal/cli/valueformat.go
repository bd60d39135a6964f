package cli

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/cadastre/cadastre/document"
)

// mostShown is how many bytes of a value are shown, and shownBefore how many of them that two values have in common.
const mostShown, shownBefore = 60, 20

// shownValue is a value on one line, and not too much of it.
func shownValue(v document.Value) string { return shownFrom(v, 0) }

// shownPair is two values that differ, each on one line, from where the difference can be seen.
func shownPair(a, b document.Value) (string, string) {
	if a.IsAbsent() || b.IsAbsent() {
		return shownValue(a), shownValue(b)
	}
	start := 0
	if common := commonPrefix(a.JSON(), b.JSON()); common > mostShown-shownBefore {
		start = common - shownBefore
	}
	return shownFrom(a, start), shownFrom(b, start)
}

// shownFrom is what comes from a place on.
func shownFrom(v document.Value, start int) string {
	if v.IsAbsent() {
		return "absent"
	}
	text := v.JSON()
	part, before, after := text[start:], "", ""
	if start > 0 {
		before = "…"
	}
	if len(part) > mostShown {
		part, after = part[:mostShown], "…"
	}
	return before + printable(strings.ToValidUTF8(part, "")) + after
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// printable writes characters that would not show, or that would have a terminal do something, as JSON escapes them.
func printable(text string) string {
	if strings.IndexFunc(text, isHidden) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case !isHidden(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			first, second := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, first, second)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func isHidden(r rune) bool { return !unicode.IsPrint(r) && r != '\t' }
