package server

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// How many characters the warnings of an answer may have. When they have more, each is cut: clients do not
// read headers of any length.
const (
	mostWarnings   = 4096
	longestWarning = 256
)

// warnings are what a client is told in headers.
type warnings struct {
	texts      []string
	characters int // that were written
	areCut     bool
}

// add tells the client something more, once.
func (s *warnings) add(header http.Header, text string) {
	if text == "" || s.areCut && s.characters >= mostWarnings || slices.Contains(s.texts, text) {
		return
	}
	s.texts = append(s.texts, text)
	if s.areCut || s.characters+utf8.RuneCountInString(text) <= mostWarnings {
		s.write(header, text)
		return
	}
	s.areCut, s.characters = true, 0
	header.Del("Warning")
	for _, text := range s.texts {
		s.write(header, text)
	}
}

func (s *warnings) write(header http.Header, text string) {
	if s.areCut && utf8.RuneCountInString(text) > longestWarning {
		text = string([]rune(text)[:longestWarning])
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
