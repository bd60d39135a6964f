package rules

import (
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/cadastre/cadastre/document"
)

//go:embed validation/*.txt
var ruleFiles embed.FS

// rulebook is all rules, ready to run: those of objects, those of writes to their status, and what is warned of
// in either.
type rulebook struct {
	kinds, statuses          map[*Type]*block
	warnings, statusWarnings map[*Type]*block
	sentWarnings             map[*Type]*block
	blocks                   map[string]*block
	checks                   map[string]maker // only while the rules are read
}

func newRulebook() *rulebook {
	return &rulebook{
		kinds: map[*Type]*block{}, statuses: map[*Type]*block{},
		warnings: map[*Type]*block{}, statusWarnings: map[*Type]*block{}, sentWarnings: map[*Type]*block{},
		blocks: map[string]*block{},
	}
}

// ruleset returns the rules of the built-in kinds. They are read when they are first asked for.
var ruleset = sync.OnceValue(func() *rulebook {
	book := newRulebook()
	entries, err := ruleFiles.ReadDir("validation")
	if err != nil {
		panic(err) // they are embedded
	}
	var texts []ruleText
	for _, entry := range entries {
		text, err := ruleFiles.ReadFile("validation/" + entry.Name())
		if err != nil {
			panic(err)
		}
		texts = append(texts, ruleText{entry.Name(), string(text)})
	}
	if err := book.read(texts); err != nil {
		panic(err) // a test reads them
	}
	return book
})

type ruleText struct{ file, text string }

// line is one line of rules: how far it is indented, and its words.
type line struct {
	number, indent int
	words          []word
}

// word is a word or a quoted text. end says that a semicolon follows.
type word struct {
	text        string
	quoted, end bool
}

// read reads texts in two passes, for a block may be used before it is written.
func (book *rulebook) read(texts []ruleText) error {
	type part struct {
		file  string
		block *block
		lines []line
	}
	var parts []part
	for _, t := range texts {
		lines, err := splitLines(t.text)
		if err != nil {
			return fmt.Errorf("%s:%w", t.file, err)
		}
		for _, l := range lines {
			if l.indent > 0 {
				if len(parts) == 0 || parts[len(parts)-1].file != t.file {
					return fmt.Errorf("%s:%d: expected kind or type before the first rule", t.file, l.number)
				}
				last := &parts[len(parts)-1]
				last.lines = append(last.lines, l)
				continue
			}
			b, err := book.header(l.words)
			if err != nil {
				return fmt.Errorf("%s:%d: %w", t.file, l.number, err)
			}
			parts = append(parts, part{file: t.file, block: b})
		}
	}
	book.checks = book.makers()
	for _, p := range parts {
		statements, rest, err := book.statements(p.block, p.lines, 1)
		if err == nil && len(rest) > 0 {
			err = fmt.Errorf("%d: this line is indented too far", rest[0].number)
		}
		if err != nil {
			return fmt.Errorf("%s:%w", p.file, err)
		}
		p.block.statements = statements
	}
	book.checks = nil
	return nil
}

// header reads the line that starts a block.
func (book *rulebook) header(words []word) (*block, error) {
	b := &block{}
	switch {
	case len(words) == 2 && words[0].text == "type":
		b.name = words[1].text
	case len(words) == 3 && words[0].text == "kind" && slices.Contains([]string{"namespaced", "cluster", "question"}, words[2].text):
		b.name = words[1].text
		b.namespaced, b.question = words[2].text == "namespaced", words[2].text == "question"
		if err := book.about(b.name, b, book.kinds); err != nil {
			return nil, err
		}
	case len(words) == 2 && book.part(words[0].text) != nil:
		b.name = words[0].text + " of " + words[1].text
		if err := book.about(words[1].text, b, book.part(words[0].text)); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("expected type NAME, status NAME, warnings NAME, status-warnings NAME, sent-warnings NAME or kind NAME namespaced|cluster|question, received %q", textsOf(words))
	}
	if book.blocks[b.name] != nil {
		return nil, fmt.Errorf("expected each block once, received %s again", b.name)
	}
	book.blocks[b.name] = b
	return b, nil
}

// part returns the rules that a word stands for, nil if it stands for none.
func (book *rulebook) part(word string) map[*Type]*block {
	switch word {
	case "status":
		return book.statuses
	case "warnings":
		return book.warnings
	case "status-warnings":
		return book.statusWarnings
	case "sent-warnings":
		return book.sentWarnings
	}
	return nil
}

// about notes that a block is about a kind.
func (book *rulebook) about(name string, b *block, blocks map[*Type]*block) error {
	t, ok := Builtin("io.k8s.api." + name)
	if !ok {
		return fmt.Errorf("expected a built-in kind such as apps.v1.Deployment, received %q", name)
	}
	blocks[t] = b
	return nil
}

// statements reads the lines that are indented as far as the first one at least.
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

// lineError is an error that knows its line.
type lineError struct {
	number int
	err    error
}

func (e *lineError) Error() string { return fmt.Sprintf("%d: %v", e.number, e.err) }

func (e *lineError) Unwrap() error { return e.err }

// conditional reads what depends on a condition, which is indented further.
func (book *rulebook) conditional(b *block, l line, lines []line) (s statement, rest []line, err error) {
	if s.premise, err = book.readPremise(l.words[1:]); err != nil {
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

// line reads PATH [@PATH] CHECK [ARGUMENT…] [; CHECK [ARGUMENT…]]…
func (book *rulebook) line(b *block, l line) (s statement, err error) {
	if s.at, err = readPath(l.words[0].text); err != nil {
		return s, err
	}
	words := l.words[1:]
	if len(words) > 0 && strings.HasPrefix(words[0].text, "@") && !words[0].quoted {
		if s.elsewhere, err = readPath(words[0].text[1:]); err != nil {
			return s, err
		}
		if s.elsewhere == nil {
			s.elsewhere = []step{}
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
			s.idle = s.isIdle(words[0].text, n == len(words))
		}
		s.checks = append(s.checks, made)
		words = words[n:]
	}
	if len(s.checks) == 0 {
		return s, fmt.Errorf("expected a check after the path")
	}
	return s, nil
}

// isIdle reports whether there is nothing to check if the field is not there that the path starts with, as
// the first check tells, which may be the only one.
func (s *statement) isIdle(first string, only bool) bool {
	switch {
	case len(s.at) == 0:
		return false
	case slices.ContainsFunc(s.at, func(s step) bool { return s.kind != stepField }):
		return true // there are no items and no keys
	}
	return first == "optional" || first == "nullable" || only && (first == "forbidden" || first == "invalid")
}

// check reads CHECK [ARGUMENT…], where the name of a type stands for all its rules.
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
	args := textsOf(words[1:])
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

// readPath reads a path such as spec.ports[].name or data{}; "." is the value itself, and ..
// before a path to report at is the place around it.
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

// splitLines leaves out empty lines and comments. Each four spaces indent by one.
func splitLines(text string) (lines []line, err error) {
	number := 0
	for content := range strings.Lines(text) {
		number++
		trimmed := strings.TrimSpace(content)
		if trimmed == "" || trimmed[0] == '#' {
			continue
		}
		spaces := len(content) - len(strings.TrimLeft(content, " "))
		if spaces%4 != 0 {
			return nil, fmt.Errorf("%d: expected an indent by four spaces, received %d", number, spaces)
		}
		words, err := splitWords(trimmed)
		if err != nil {
			return nil, fmt.Errorf("%d: %w", number, err)
		}
		lines = append(lines, line{number, spaces / 4, words})
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

func textsOf(words []word) []string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.text
	}
	return texts
}
