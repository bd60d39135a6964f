package server

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Headers have little room: when the warnings of an answer are longer than all may be together, each of them is cut.
const (
	mostWarned = 4 * 1024 // characters
	mostCut    = 256
)

// warnings are what the client was told in headers.
type warnings struct {
	texts []string
	sent  int // characters
	cut   bool
}

// warn tells the client something in a header, once.
func (q *request) warn(text string) {
	w := &q.warned
	if text == "" || w.cut && w.sent >= mostWarned || slices.Contains(w.texts, text) {
		return
	}
	w.texts = append(w.texts, text)
	if w.cut || w.sent+utf8.RuneCountInString(text) <= mostWarned {
		q.sendWarning(text)
		return
	}
	w.cut, w.sent = true, 0
	q.w.Header().Del("Warning")
	for _, text := range w.texts {
		q.sendWarning(text)
	}
}

func (q *request) sendWarning(text string) {
	if q.warned.cut {
		text = firstRunes(text, mostCut)
	}
	q.warned.sent += utf8.RuneCountInString(text)
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
	q.w.Header().Add("Warning", fmt.Sprintf(`299 - "%s"`, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(clean)))
}

// firstRunes returns the beginning of a text.
func firstRunes(text string, most int) string {
	n := 0
	for i := range text {
		if n == most {
			return text[:i]
		}
		n++
	}
	return text
}
