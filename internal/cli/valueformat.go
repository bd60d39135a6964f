package cli

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/cadastre/cadastre/document"
)

// maxValueBytes is the maximum length of a formatted value in bytes. contextBytes is the number of common bytes that are
// shown before the first difference of two values.
const maxValueBytes, contextBytes = 60, 20

// formatValue formats a value as JSON on one line, truncated to maxValueBytes.
func formatValue(v document.Value) string { return formatValueFrom(v, 0) }

// formatValuePair formats a and b as JSON, on one line each. It omits a long common prefix, so that truncation does not
// hide the first difference.
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

// formatValueFrom formats the JSON of v from byte offset start on, truncated to maxValueBytes; "absent" if v is absent.
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

// escapeUnprintable replaces characters that are invisible or control a terminal with their JSON escapes.
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

// escapeLines is like escapeUnprintable and keeps line breaks.
func escapeLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = escapeUnprintable(line)
	}
	return strings.Join(lines, "\n")
}

func isUnprintable(r rune) bool { return !unicode.IsPrint(r) && r != '\t' }
