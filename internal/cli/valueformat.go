package cli

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/cadastre/cadastre/document"
)

// mostShown is how many bytes of a value are shown, and shownBefore how many of them that two values have in common.
const maxValueBytes, contextBytes = 60, 20

// shownValue is a value on one line, and not too much of it.
func formatValue(v document.Value) string { return formatValueFrom(v, 0) }

// shownPair is two values that differ, each on one line, from where the difference can be seen.
func formatValuePair(a, b document.Value) (string, string) {
	if a.IsAbsent() || b.IsAbsent() {
		return formatValue(a), formatValue(b)
	}
	start := 0
	if common := commonPrefix(a.JSON(), b.JSON()); common > maxValueBytes-contextBytes {
		start = common - contextBytes
	}
	return formatValueFrom(a, start), formatValueFrom(b, start)
}

// shownFrom is what comes from a place on.
func formatValueFrom(v document.Value, start int) string {
	if v.IsAbsent() {
		return "absent"
	}
	text := v.JSON()
	part, before, after := text[start:], "", ""
	if start > 0 {
		before = "…"
	}
	if len(part) > maxValueBytes {
		part, after = part[:maxValueBytes], "…"
	}
	return before + escapeUnprintable(strings.ToValidUTF8(part, "")) + after
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// printable writes characters that would not show, or that would have a terminal do something, as JSON escapes them.
func escapeUnprintable(text string) string {
	if strings.IndexFunc(text, isUnprintable) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case !isUnprintable(r):
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

func isUnprintable(r rune) bool { return !unicode.IsPrint(r) && r != '\t' }
