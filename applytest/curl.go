package applytest

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// shownBody is how long a body may be that is shown to people.
const shownBody = 8 << 10

// curlCommand is the request for people to repeat in bash or zsh, without credentials. It is one line, so that it can be
// indented.
func curlCommand(request *http.Request, body []byte) string {
	words := []string{"curl", "-sS", "-X", request.Method}
	for _, name := range slices.Sorted(maps.Keys(request.Header)) {
		for _, value := range request.Header[name] {
			words = append(words, "-H", inShell(name+": "+value))
		}
	}
	if request.Header.Get("User-Agent") == "" {
		words = append(words, "-A", userAgent) // a manager may be known by it
	}
	if len(body) > 0 && request.Header.Get("Content-Type") == "" {
		words = append(words, "-H", "'Content-Type:'") // curl would send one
	}
	before, after := "", ""
	switch {
	case len(body) == 0:
	case len(body) > shownBody:
		words = append(words, "--data-binary", "@body")
		after = fmt.Sprintf(" # the file body is the step's, %d bytes, and too long to show", len(body))
	case !utf8.Valid(body) || slices.Contains(body, 0):
		words = append(words, "--data-binary", "@-")
		before = "echo " + base64.StdEncoding.EncodeToString(body) + " | base64 -d | "
	default:
		words = append(words, "--data-binary", inShell(string(body)))
	}
	return before + strings.Join(append(words, inShell(request.URL.String())), " ") + after
}

// inShell quotes a word. What has other characters than those of a line is written with escapes, as bash and zsh read
// them.
func inShell(word string) string {
	if !strings.ContainsFunc(word, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	var text strings.Builder
	text.WriteString("$'")
	for _, r := range word {
		switch {
		case r == '\'' || r == '\\':
			text.WriteString(`\` + string(r))
		case r == '\n':
			text.WriteString(`\n`)
		case strconv.IsPrint(r):
			text.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&text, `\x%02x`, r)
		default:
			fmt.Fprintf(&text, `\U%08x`, r)
		}
	}
	return text.String() + "'"
}
