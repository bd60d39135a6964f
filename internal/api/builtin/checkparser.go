package builtin

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/builtin/kinds"
)

// rulebook holds the compiled validation rules and warnings of all kinds.
type rulebook struct {
	kinds, statuses          map[*Type]*block
	warnings, statusWarnings map[*Type]*block
	requestWarnings          map[*Type]*block
	blocks                   map[string]*block
	checks                   map[string]checkFactory // the check factories, set during compilation only
}

func newRulebook() *rulebook {
	return &rulebook{
		kinds: map[*Type]*block{}, statuses: map[*Type]*block{},
		warnings: map[*Type]*block{}, statusWarnings: map[*Type]*block{}, requestWarnings: map[*Type]*block{},
		blocks: map[string]*block{},
	}
}

// ruleset returns the rules of the built-in kinds, which are compiled on first use.
var ruleset = sync.OnceValue(func() *rulebook {
	book := newRulebook()
	if err := book.read(kinds.Builtin()); err != nil {
		panic(err) // unreachable: a test compiles all kind files
	}
	return book
})

// line is a line of rules: its indent, which is at least 1, and its words.
type line struct {
	number, indent int
	words          []word
}

// word is a word or a quoted string; end marks a following semicolon.
type word struct {
	text        string
	quoted, end bool
}

// ruleSection is a section of rules, and the block that it is compiled into.
type ruleSection struct {
	section *kinds.Section // nil for a block without rules
	block   *block
}

// read compiles the rules of kind files. All blocks are created first, because rules can name blocks of other files.
func (book *rulebook) read(set *kinds.Set) error {
	var all []ruleSection
	for _, d := range set.All() {
		sections, err := book.declare(d)
		if err != nil {
			return err
		}
		all = append(all, sections...)
	}
	book.checks = book.checkFactories()
	for _, s := range all {
		if s.section == nil {
			continue
		}
		lines, err := splitLines(s.section)
		if err != nil {
			return err
		}
		statements, rest, err := book.statements(s.block, lines, 1)
		if err == nil && len(rest) > 0 {
			err = &lineError{rest[0].number, errors.New("expected a smaller indent")}
		}
		if inLine := (*lineError)(nil); errors.As(err, &inLine) {
			return s.section.Errorf(inLine.number, "%w", inLine.err)
		}
		s.block.statements = statements
	}
	book.checks = nil
	return nil
}

// declare creates the blocks of a kind or type.
func (book *rulebook) declare(d *kinds.Declaration) (all []ruleSection, err error) {
	if d.IsKind {
		return book.declareKind(d)
	}
	for _, s := range slices.Concat(d.Sections(kinds.Validation), d.Sections(kinds.Warnings)) {
		if len(all) > 0 {
			return nil, d.Errorf(d.Line, "expected a type with either validation or warnings, received both; split it")
		}
		b := &block{name: d.Name}
		book.blocks[b.name] = b
		all = append(all, ruleSection{s, b})
	}
	return all, nil
}

// declareKind creates the blocks of a kind at each of its versions. A kind always has a block for validation, and one
// for status validation if it has the status subresource.
func (book *rulebook) declareKind(d *kinds.Declaration) (all []ruleSection, err error) {
	for _, part := range []struct {
		section string
		blocks  map[*Type]*block
		always  bool
	}{
		{kinds.Validation, book.kinds, true},
		{kinds.StatusValidation, book.statuses, slices.Contains(d.Property("subresources").Words(), "status")},
		{kinds.Warnings, book.warnings, false},
		{kinds.StatusWarnings, book.statusWarnings, false},
		{kinds.RequestWarnings, book.requestWarnings, false},
	} {
		sections := d.Sections(part.section)
		for _, name := range d.Structs(nil) {
			t, ok := Builtin(structPrefix + name)
			if !ok {
				return nil, d.Errorf(d.Line, "expected a struct %s in types.txt.gz; run go generate ./internal/api/..., or state fields of", name)
			}
			i := slices.IndexFunc(sections, func(s *kinds.Section) bool { return slices.Contains(d.Structs(s), name) })
			if i < 0 && !part.always {
				continue
			}
			b := &block{name: name, namespaced: d.Property("scope").Value == "namespaced"}
			b.review = slices.Contains(d.Property("traits").Words(), kinds.Review)
			if part.section != kinds.Validation {
				b.name = part.section + " of " + name
			}
			part.blocks[t], book.blocks[b.name] = b, b
			s := ruleSection{block: b}
			if i >= 0 {
				s.section = sections[i]
			}
			all = append(all, s)
		}
	}
	return all, nil
}

// statements parses the leading lines with the given indent, and returns the remaining lines.
func (book *rulebook) statements(b *block, lines []line, indent int) (list []statement, rest []line, err error) {
	for len(lines) > 0 && lines[0].indent == indent {
		l := lines[0]
		lines = lines[1:]
		var s statement
		switch l.words[0].text {
		case "if":
			s, lines, err = book.conditional(b, l, lines)
		case "else":
			err = fmt.Errorf("expected if before else")
		default:
			s, err = book.line(b, l)
		}
		if err != nil {
			if _, deeper := err.(*lineError); deeper {
				return nil, nil, err
			}
			return nil, nil, &lineError{l.number, err}
		}
		list = append(list, s)
	}
	return list, lines, nil
}

// lineError is an error with a line number.
type lineError struct {
	number int
	err    error
}

func (e *lineError) Error() string { return fmt.Sprintf("%d: %v", e.number, e.err) }

func (e *lineError) Unwrap() error { return e.err }

// conditional parses an if statement: its condition, and the lines indented below it and below else.
func (book *rulebook) conditional(b *block, l line, lines []line) (s statement, rest []line, err error) {
	if s.condition, err = book.parseCondition(l.words[1:]); err != nil {
		return s, nil, err
	}
	if s.then, lines, err = book.statements(b, lines, l.indent+1); err != nil {
		return s, nil, err
	}
	if len(lines) > 0 && lines[0].indent == l.indent && lines[0].words[0].text == "else" {
		s.otherwise, lines, err = book.statements(b, lines[1:], l.indent+1)
	}
	if err == nil && len(s.then)+len(s.otherwise) == 0 {
		err = fmt.Errorf("expected rules below the condition")
	}
	return s, lines, err
}

// line parses PATH [@PATH] CHECK [ARGUMENT…] [; CHECK [ARGUMENT…]]…
func (book *rulebook) line(b *block, l line) (s statement, err error) {
	if s.path, err = readPath(l.words[0].text); err != nil {
		return s, err
	}
	words := l.words[1:]
	if len(words) > 0 && strings.HasPrefix(words[0].text, "@") && !words[0].quoted {
		if s.reportPath, err = readPath(words[0].text[1:]); err != nil {
			return s, err
		}
		if s.reportPath == nil {
			s.reportPath = []step{}
		}
		words = words[1:]
	}
	for len(words) > 0 {
		n := 1
		for n < len(words) && !words[n-1].end {
			n++
		}
		made, err := book.check(b, words[:n])
		if err != nil {
			return s, err
		}
		if len(s.checks) == 0 {
			s.skipIfAbsent = s.canSkip(words[0].text, n == len(words))
		}
		s.checks = append(s.checks, made)
		words = words[n:]
	}
	if len(s.checks) == 0 {
		return s, fmt.Errorf("expected a check after the path")
	}
	return s, nil
}

// canSkip reports whether the statement has nothing to check if the first field of its path is absent, which depends on
// its first check; only says that there is no other.
func (s *statement) canSkip(first string, only bool) bool {
	switch {
	case len(s.path) == 0:
		return false
	case slices.ContainsFunc(s.path, func(s step) bool { return s.kind != stepField }):
		return true // an absent field has no items and no keys
	}
	return first == "optional" || first == "nullable" || only && (first == "forbidden" || first == "invalid")
}

// check parses CHECK [ARGUMENT…]. The name of a type stands for all its rules.
func (book *rulebook) check(b *block, words []word) (check, error) {
	name := words[0].text
	if used := book.blocks[name]; used != nil && len(words) == 1 {
		return func(c *checker, now, old document.Value) bool {
			c.run(used, now, old)
			return true
		}, nil
	}
	if name == "object-meta" {
		b.checksNames = true
	}
	args := wordTexts(words[1:])
	make, ok := book.checks[name]
	if !ok {
		return nil, fmt.Errorf("expected a check or a type, received %q", name)
	}
	made, err := make(args)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return made, nil
}

// readPath parses a path such as spec.ports[].name or data{}. "." is the value itself. In the path of errors, a leading
// ../ refers to the enclosing value.
func readPath(text string) ([]step, error) {
	var steps []step
	for strings.HasPrefix(text, "../") {
		steps, text = append(steps, step{kind: stepUp}), text[len("../"):]
	}
	if text == "." {
		return steps, nil
	}
	for part := range strings.SplitSeq(text, ".") {
		name := strings.TrimRight(part, "[]{}")
		if name == "" {
			return nil, fmt.Errorf("expected a path such as spec.ports[].name, received %q", text)
		}
		steps = append(steps, step{name: name})
		for more := part[len(name):]; more != ""; more = more[2:] {
			switch {
			case strings.HasPrefix(more, "[]"):
				steps = append(steps, step{kind: stepItem})
			case strings.HasPrefix(more, "{}"):
				steps = append(steps, step{kind: stepKey})
			default:
				return nil, fmt.Errorf("expected [] or {} after %s, received %q", name, more)
			}
		}
	}
	return steps, nil
}

// splitLines splits the lines of a section into words.
func splitLines(s *kinds.Section) (lines []line, err error) {
	all, err := s.Lines()
	if err != nil {
		return nil, err
	}
	for _, l := range all {
		words, err := splitWords(l.Text)
		if err != nil {
			return nil, s.Errorf(l.Number, "%w", err)
		}
		lines = append(lines, line{l.Number, l.Indent + 1, words})
	}
	return lines, nil
}

func splitWords(text string) (words []word, err error) {
	for text = strings.TrimLeft(text, " "); text != ""; text = strings.TrimLeft(text, " ") {
		if text[0] == ';' {
			if len(words) == 0 {
				return nil, fmt.Errorf("expected a word before the semicolon")
			}
			words[len(words)-1].end = true
			text = text[1:]
			continue
		}
		if text[0] == '"' {
			quoted, err := strconv.QuotedPrefix(text)
			if err != nil {
				return nil, fmt.Errorf("expected a text in quotes, received %s", text)
			}
			content, _ := strconv.Unquote(quoted)
			words = append(words, word{text: content, quoted: true})
			text = text[len(quoted):]
			continue
		}
		n := strings.IndexAny(text, " ;")
		if n < 0 {
			n = len(text)
		}
		words = append(words, word{text: text[:n]})
		text = text[n:]
	}
	return words, nil
}

func wordTexts(words []word) []string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.text
	}
	return texts
}
