package server

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// The warnings of a response are limited to maxWarningChars characters in total, as in Kubernetes, because clients limit the
// size of headers. If the warnings exceed the limit, each warning is truncated to maxTruncatedWarning characters.
const (
	maxWarningChars     = 4096
	maxTruncatedWarning = 256
)

// warnings are the Warning headers of a response.
type warnings struct {
	texts      []string
	characters int  // the number of characters of all warnings in the headers
	truncated  bool // reports whether warnings are truncated to maxTruncatedWarning characters
}

// add adds a warning, unless the response has it already or the limit is reached.
func (w *warnings) add(header http.Header, text string) {
	if text == "" || w.truncated && w.characters >= maxWarningChars || slices.Contains(w.texts, text) {
		return
	}
	w.texts = append(w.texts, text)
	if w.truncated || w.characters+utf8.RuneCountInString(text) <= maxWarningChars {
		w.write(header, text)
		return
	}
	w.truncated, w.characters = true, 0
	header.Del("Warning")
	for _, text := range w.texts {
		w.write(header, text)
	}
}

// write adds a Warning header with the given text, truncated to maxTruncatedWarning characters if w.truncated is true.
func (w *warnings) write(header http.Header, text string) {
	if w.truncated && utf8.RuneCountInString(text) > maxTruncatedWarning {
		text = string([]rune(text)[:maxTruncatedWarning])
	}
	w.characters += utf8.RuneCountInString(text)
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
	header.Add("Warning", fmt.Sprintf(`299 - "%s"`, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(clean)))
}
