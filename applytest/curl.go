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

// maxShownBody is the maximum size, in bytes, of a request body that a failure report shows.
const maxShownBody = 8 << 10

// curlCommand returns a curl command that repeats the request in bash or zsh, without credentials. The command has only one
// line, so reports can indent it.
func curlCommand(request *http.Request, body []byte) string {
	words := []string{"curl", "-sS", "-X", request.Method}
	for _, name := range slices.Sorted(maps.Keys(request.Header)) {
		for _, value := range request.Header[name] {
			words = append(words, "-H", shellQuote(name+": "+value))
		}
	}
	if request.Header.Get("User-Agent") == "" {
		words = append(words, "-A", userAgent) // the server derives the default field manager from the User-Agent
	}
	if len(body) > 0 && request.Header.Get("Content-Type") == "" {
		words = append(words, "-H", "'Content-Type:'") // an empty header prevents curl's default Content-Type
	}
	before, after := "", ""
	switch {
	case len(body) == 0:
	case len(body) > maxShownBody:
		words = append(words, "--data-binary", "@body")
		after = fmt.Sprintf(" # @body is the body of the step, %d bytes", len(body))
	case !utf8.Valid(body) || slices.Contains(body, 0):
		words = append(words, "--data-binary", "@-")
		before = "echo " + base64.StdEncoding.EncodeToString(body) + " | base64 -d | "
	default:
		words = append(words, "--data-binary", shellQuote(string(body)))
	}
	return before + strings.Join(append(words, shellQuote(request.URL.String())), " ") + after
}

// shellQuote quotes a word for the shell. A word with control characters is written in the $'…' syntax of bash and zsh.
func shellQuote(word string) string {
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
