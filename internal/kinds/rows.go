package kinds

import (
	"fmt"
	"slices"
	"strings"
)

// row is a line of a text that says something about a kind: its words, the first of which names
// the kind as String does.
type row struct {
	number int
	kind   *Kind
	words  []string
}

// parseRows reads a text of rows that have at least so many words, and may have comments between
// them.
func parseRows(kinds []*Kind, text, expected string, least int) (rows []row, err error) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		r := row{number: number, words: words}
		if len(words) < least {
			return nil, r.errorf("expected %s, received %q", expected, words)
		}
		i := slices.IndexFunc(kinds, func(k *Kind) bool { return k.String() == words[0] })
		if i < 0 {
			return nil, r.errorf("expected the name of a kind, received %q", words[0])
		}
		r.kind = kinds[i]
		rows = append(rows, r)
	}
	return rows, nil
}

func (r row) errorf(format string, args ...any) error {
	return fmt.Errorf("line %d: %w", r.number, fmt.Errorf(format, args...))
}
