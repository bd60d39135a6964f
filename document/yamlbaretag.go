package document

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// bareTags finds the nodes whose tag is a lone "!". It makes a scalar a string,
// but the library's nodes do not tell. Places in strings and comments are found as
// well; no node starts there, so that they do no harm.
func bareTags(text []byte) map[place]bool {
	if bytes.IndexByte(text, '!') < 0 {
		return nil
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // takes no column
	found := map[place]bool{}
	at := place{1, 1}
	node := at // where a node starts whose tag is still to come
	inAnchor, afterAnchor := false, false
	for i, r := range string(text) {
		next, _ := utf8.DecodeRune(text[i+utf8.RuneLen(r):])
		switch {
		case r == '&':
			node, inAnchor, afterAnchor = at, true, false
		case strings.ContainsRune(yamlBlanks, r):
			inAnchor, afterAnchor = false, inAnchor || afterAnchor
		case r == '!' && !afterAnchor:
			node = at
			fallthrough
		case r == '!':
			if i+1 == len(text) || strings.ContainsRune(yamlBlanks+",]}", next) {
				found[node] = true
			}
			fallthrough
		default:
			afterAnchor = false
		}
		if strings.ContainsRune(yamlBreaks, r) && (r != '\r' || next != '\n') {
			at = place{at.line + 1, 0}
		}
		at.column++
	}
	return found
}

// All of the breaks end lines in YAML 1.1.
const (
	yamlBreaks = "\n\r\u0085\u2028\u2029"
	yamlBlanks = " \t" + yamlBreaks
)
