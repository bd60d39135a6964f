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

// rulebook holds the compiled validation rules and warnings of all built-in kinds. The keys of most maps are the type of a
// kind at one version.
type rulebook struct {
	kinds                    map[*Type]*block
	subresources             map[string]map[*Type]*block // subresources maps the name of a subresource to its validation rules.
	warnings, statusWarnings map[*Type]*block
	requestWarnings          map[*Type]*block
	declared                 map[*Type]*declaredType // declared holds the declarative validation of the kinds that have one.
	blocks                   map[string]*block       // blocks holds the blocks that rules can use, by name.
	checks                   map[string]checkFactory // checks maps the names of checks to their factories; nil after compilation.
}

func newRulebook() *rulebook {
	return &rulebook{
		kinds: map[*Type]*block{}, subresources: map[string]map[*Type]*block{},
		warnings: map[*Type]*block{}, statusWarnings: map[*Type]*block{}, requestWarnings: map[*Type]*block{},
		declared: map[*Type]*declaredType{}, blocks: map[string]*block{},
	}
}

// ruleset returns the rules of the built-in kinds, which are compiled on first use.
var ruleset = sync.OnceValue(func() *rulebook {
	book := newRulebook()
	if err := book.readRules(kinds.Builtin()); err != nil {
		panic(err) // unreachable: the kind files are embedded, and a test compiles all of them
	}
	return book
})

// line is a line of a section of rules, with its indent (1 for the outermost lines) and its words.
type line struct {
	number, indent int
	words          []word
}

// word is a word or a quoted string in a line of rules; end reports whether a semicolon follows it.
type word struct {
	text        string
	quoted, end bool
}

// ruleSection is a section of a kind file that contains rules, and the block that the rules are compiled into.
type ruleSection struct {
	section *kinds.Section // section is nil for a block without rules.
	block   *block
}

// readRules compiles the rules of kind files. It first creates the blocks of all files, because rules can use blocks of other
// files by name.
func (book *rulebook) readRules(set *kinds.Set) error {
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
		statements, rest, err := book.parseStatements(s.block, lines, 1)
		if err == nil && len(rest) > 0 {
			err = &lineError{rest[0].number, errors.New("expected a smaller indent")}
		}
		if inLine := (*lineError)(nil); errors.As(err, &inLine) {
			return s.section.Errorf(inLine.number, "%w", inLine.err)
		}
		s.block.statements = statements
	}
	book.checks = nil
	return book.readDeclarations()
}

// readDeclarations compiles the declarative validation of all kinds.
func (book *rulebook) readDeclarations() error {
	d, err := newDeclarations()
	if err != nil {
		return err
	}
	for t := range book.kinds {
		declared, err := d.of(t)
		if err != nil {
			return fmt.Errorf("declarative.txt: %w", err)
		}
		if declared != nil {
			book.declared[t] = declared
		}
	}
	return nil
}

// declare creates the blocks of d, the declaration of a kind or of a shared type, and returns them with their sections, which
// are not yet compiled.
func (book *rulebook) declare(d *kinds.Declaration) (sections []ruleSection, err error) {
	if d.IsKind {
		return book.declareKind(d)
	}
	for _, s := range slices.Concat(d.Sections(kinds.Validation), d.Sections(kinds.Warnings)) {
		if len(sections) > 0 {
			return nil, d.Errorf(d.Line, "expected a type with either validation or warnings, received both; split it")
		}
		b := &block{name: d.Name}
		book.blocks[b.name] = b
		sections = append(sections, ruleSection{s, b})
	}
	return sections, nil
}

// rulePart is a section that kinds can have, such as validation, and the map of the blocks that it is compiled into. If a kind
// has no such section, it has an empty block if alwaysPresent is set, and no block if alwaysPresent is not set.
type rulePart struct {
	section       string
	blocks        map[*Type]*block
	alwaysPresent bool
}

// ruleParts returns the sections that the kind d can have, which depend on its subresources. alwaysPresent is set for the
// validation of the kind and of its subresources, whose metadata is validated even without rules.
func (book *rulebook) ruleParts(d *kinds.Declaration) []rulePart {
	all := []rulePart{
		{kinds.Validation, book.kinds, true},
		{kinds.Warnings, book.warnings, false},
		{kinds.StatusWarnings, book.statusWarnings, false},
		{kinds.RequestWarnings, book.requestWarnings, false},
	}
	for _, name := range d.Property("subresources").Words() {
		if book.subresources[name] == nil {
			book.subresources[name] = map[*Type]*block{}
		}
		all = append(all, rulePart{kinds.ValidationOf(name), book.subresources[name], true})
	}
	return all
}

// declareKind creates the blocks of the kind d at each of its versions, and returns them with their sections.
func (book *rulebook) declareKind(d *kinds.Declaration) (all []ruleSection, err error) {
	for _, part := range book.ruleParts(d) {
		sections := d.Sections(part.section)
		for _, name := range d.Structs(nil) {
			t, ok := Builtin(openAPINamePrefix + name)
			if !ok {
				return nil, d.Errorf(d.Line, "expected a struct %s in types.txt.gz; run go generate ./internal/api/..., or state fields of", name)
			}
			i := slices.IndexFunc(sections, func(s *kinds.Section) bool { return slices.Contains(d.Structs(s), name) })
			if i < 0 && !part.alwaysPresent {
				continue
			}
			// Rules of shared types can test the name, to apply only to some kinds.
			b := &block{name: name, namespaced: d.Property("scope").Value == "namespaced"}
			b.review = slices.Contains(d.Property("traits").Words(), kinds.Review)
			part.blocks[t] = b
			if part.section == kinds.Validation {
				book.blocks[name] = b
			}
			s := ruleSection{block: b}
			if i >= 0 {
				s.section = sections[i]
			}
			all = append(all, s)
		}
	}
	return all, nil
}

// parseStatements parses the statements of b that the leading lines contain: all lines before the first line with an indent
// less than indent. rest contains the lines that follow.
func (book *rulebook) parseStatements(b *block, lines []line, indent int) (list []statement, rest []line, err error) {
	for len(lines) > 0 && lines[0].indent == indent {
		l := lines[0]
		lines = lines[1:]
		var s statement
		switch l.words[0].text {
		case "if":
			s, lines, err = book.parseConditional(b, l, lines)
		case "else":
			err = fmt.Errorf("expected if before else")
		default:
			s, err = book.parseStatement(b, l)
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

// lineError is an error in a line of a kind file; number is the number of the line.
type lineError struct {
	number int
	err    error
}

func (e *lineError) Error() string { return fmt.Sprintf("%d: %v", e.number, e.err) }

func (e *lineError) Unwrap() error { return e.err }

// parseConditional parses an if statement: the condition in l, and the indented statements below it and below else, at the
// beginning of lines. rest contains the lines that follow.
func (book *rulebook) parseConditional(b *block, l line, lines []line) (s statement, rest []line, err error) {
	if s.condition, err = book.parseCondition(l.words[1:]); err != nil {
		return s, nil, err
	}
	if s.then, lines, err = book.parseStatements(b, lines, l.indent+1); err != nil {
		return s, nil, err
	}
	if len(lines) > 0 && lines[0].indent == l.indent && lines[0].words[0].text == "else" {
		s.otherwise, lines, err = book.parseStatements(b, lines[1:], l.indent+1)
	}
	if err == nil && len(s.then)+len(s.otherwise) == 0 {
		err = fmt.Errorf("expected rules below the condition")
	}
	return s, lines, err
}

// parseStatement parses a statement that is not an if statement, whose syntax is
// PATH [@PATH] CHECK [ARGUMENT…] [; CHECK [ARGUMENT…]]…
func (book *rulebook) parseStatement(b *block, l line) (s statement, err error) {
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
		made, err := book.parseCheck(b, words[:n])
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

// canSkip reports whether the statement can be skipped if the first field of its path is absent, because its checks would not
// find an error. firstCheck is the name of the statement's first check; isOnly reports whether the statement has no other
// checks.
func (s *statement) canSkip(firstCheck string, isOnly bool) bool {
	switch {
	case len(s.path) == 0:
		return false
	case slices.ContainsFunc(s.path, func(s step) bool { return s.kind != stepField }):
		return true // an absent field has no items and no keys
	}
	return firstCheck == "optional" || firstCheck == "nullable" || isOnly && (firstCheck == "forbidden" || firstCheck == "invalid")
}

// parseCheck parses a check of a statement, whose syntax is CHECK [ARGUMENT…]. CHECK can also be the name of a block; the check
// then applies all rules of that block.
func (book *rulebook) parseCheck(b *block, words []word) (check, error) {
	name := words[0].text
	if used := book.blocks[name]; used != nil && len(words) == 1 {
		return func(c *checker, value, old document.Value) bool {
			c.run(used, value, old)
			return true
		}, nil
	}
	if name == "object-meta" {
		b.checksNames = true
	}
	args := wordTexts(words[1:])
	factory, ok := book.checks[name]
	if !ok {
		return nil, fmt.Errorf("expected a check or a type, received %q", name)
	}
	made, err := factory(args)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return made, nil
}

// readPath parses a path such as spec.ports[].name or data{}, where [] selects all items of a list and {} all values of a
// map. "." is the value itself. A leading ../, which refers to the enclosing value, is allowed only in paths of errors.
func readPath(text string) ([]step, error) {
	var steps []step
	for strings.HasPrefix(text, "../") {
		steps, text = append(steps, step{kind: stepUp}), text[len("../"):]
	}
	if text == "." {
		return steps, nil
	}
	for _, part := range splitPath(text) {
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

// splitLines returns the lines of a section, split into words.
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
