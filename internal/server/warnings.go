package server

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxWarningChars is the maximum number of characters of all warnings of a response, as in Kubernetes: clients limit the size of
// headers. If there are more, each warning is truncated to maxTruncatedWarning characters.
const (
	maxWarningChars     = 4096
	maxTruncatedWarning = 256
)

// warnings are the Warning headers of a response.
type warnings struct {
	texts      []string
	characters int // in the headers
	truncated  bool
}

// add adds a warning, unless the response has it already or the limit is reached.
func (s *warnings) add(header http.Header, text string) {
	if text == "" || s.truncated && s.characters >= maxWarningChars || slices.Contains(s.texts, text) {
		return
	}
	s.texts = append(s.texts, text)
	if s.truncated || s.characters+utf8.RuneCountInString(text) <= maxWarningChars {
		s.write(header, text)
		return
	}
	s.truncated, s.characters = true, 0
	header.Del("Warning")
	for _, text := range s.texts {
		s.write(header, text)
	}
}

// write adds a header.
func (s *warnings) write(header http.Header, text string) {
	if s.truncated && utf8.RuneCountInString(text) > maxTruncatedWarning {
		text = string([]rune(text)[:maxTruncatedWarning])
	}
	s.characters += utf8.RuneCountInString(text)
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
	header.Add("Warning", fmt.Sprintf(`299 - "%s"`, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(clean)))
}
