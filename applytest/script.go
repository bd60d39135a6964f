package applytest

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"
)

// Script describes one behaviour: requests and the expected responses.
type Script struct {
	// Name consists of the area and the behaviour, such as "removal/last-owner".
	Name string
	// Behaviour is the description of the behaviour at the start of the script.
	Behaviour string
	// Needs are the capabilities that the script requires of a server. On a server that lacks one of them, the script
	// is skipped.
	Needs []string
	// Only is the only implementation for which the script runs, and OnlyReason is the reason; both are empty if the
	// script runs for all implementations.
	Only, OnlyReason string
	// Difference is the reason why another implementation deliberately differs from Kubernetes; empty if the expectations are
	// the same for all implementations.
	Difference string
	// Defective is the implementation with a known defect in this behaviour, and Defect describes the defect; both are
	// empty if there is no known defect.
	Defective, Defect string

	steps   []*step
	text    []byte
	archive *txtar.Archive
}

// step is a request of a script, with the expectations for its response.
type step struct {
	name         string
	request      request
	expectations []*expectation
}

// expectationsFor returns the expectations of the step that apply to the given implementation. An expectation "KIND of
// NAME" for the implementation replaces the general expectation KIND. If there is an answer for the implementation, all
// general expectations are dropped, because the body differs, too.
func (s *step) expectationsFor(implementation string) []*expectation {
	var own []*expectation
	replaced := map[string]bool{}
	for _, e := range s.expectations {
		if e.implementation == implementation {
			own = append(own, e)
			replaced[e.kind] = true
		}
	}
	if replaced["answer"] {
		return own
	}
	for _, e := range s.expectations {
		if e.implementation == "" && !replaced[e.kind] {
			own = append(own, e)
		}
	}
	return own
}

// Area returns the folder of the script, the first part of its name.
func (s *Script) Area() string {
	area, _, _ := strings.Cut(s.Name, "/")
	return area
}

// Title returns the first sentence of the behaviour.
func (s *Script) Title() string {
	text := strings.Join(strings.Fields(s.Behaviour), " ")
	if i := strings.Index(text, ". "); i >= 0 {
		return text[:i+1]
	}
	return text
}

// Parse parses the text of a script, a txtar archive. Errors name the file of the archive in which they occur.
func Parse(name string, text []byte) (*Script, error) {
	s := &Script{Name: name, text: text, archive: txtar.Parse(text)}
	if err := s.readComment(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for i, file := range s.archive.Files {
		if err := s.readFile(i, file); err != nil {
			return nil, fmt.Errorf("%s: -- %s --: %w", name, file.Name, err)
		}
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

var directive = regexp.MustCompile(`^(needs|only|difference|defect): *(.*)$`)

// readComment parses the text before the first file: directives, such as needs, and the description of the behaviour.
func (s *Script) readComment() error {
	var prose []string
	for line := range strings.Lines(string(s.archive.Comment)) {
		found := directive.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if found == nil {
			prose = append(prose, line)
			continue
		}
		switch value := found[2]; found[1] {
		case "needs":
			if !isKnownNeed(value) {
				return fmt.Errorf("needs: expected %s, received %q", capabilityNames(), value)
			}
			s.Needs = append(s.Needs, value)
		case "only", "defect":
			implementation, reason, ok := strings.Cut(value, ": ")
			if !ok {
				return fmt.Errorf("%s: expected an implementation and a reason, such as %q, received %q", found[1], "cadastre: why", value)
			}
			if found[1] == "only" {
				s.Only, s.OnlyReason = implementation, reason
			} else {
				s.Defective, s.Defect = implementation, reason
			}
		case "difference":
			s.Difference = value
		}
	}
	if s.Behaviour = strings.TrimSpace(strings.Join(prose, "")); s.Behaviour == "" {
		return fmt.Errorf("expected the behaviour as a sentence before the first file")
	}
	return nil
}

func (s *Script) readFile(i int, file txtar.File) error {
	if e, ok := newExpectation(file.Name); ok {
		if len(s.steps) == 0 {
			return fmt.Errorf("expected a request before the expectation")
		}
		e.file, e.text = i, string(file.Data)
		last := s.steps[len(s.steps)-1]
		if slices.ContainsFunc(last.expectations, func(other *expectation) bool { return other.name() == e.name() }) {
			return fmt.Errorf("expected each expectation once in a step, received this expectation twice")
		}
		last.expectations = append(last.expectations, e)
		return e.check()
	}
	if slices.ContainsFunc(s.steps, func(other *step) bool { return other.name == file.Name }) {
		return fmt.Errorf("expected a unique name of the step, received the name of an earlier step")
	}
	r, err := parseRequest(string(file.Data))
	if err != nil {
		return err
	}
	s.steps = append(s.steps, &step{name: file.Name, request: r})
	return nil
}

// check returns an error if the script as a whole is invalid: it has no step, or its directives contradict its
// expectations.
func (s *Script) check() error {
	if len(s.steps) == 0 {
		return fmt.Errorf("expected at least one step")
	}
	differs := false
	for _, step := range s.steps {
		for _, e := range step.expectations {
			differs = differs || e.implementation != ""
		}
	}
	if differs && s.Difference == "" {
		return fmt.Errorf("expected the reason of the difference in a line %q before the first file", "difference: …")
	}
	if !differs && s.Difference != "" {
		return fmt.Errorf("difference: expected an expectation such as -- answer of cadastre --, found none")
	}
	return nil
}

// record replaces expectations with those in recorded, which is keyed by the index of the file in the archive. If that
// changes the text of the script, record calls write with the new text.
func (s *Script) record(recorded map[int]string, write func(name string, text []byte) error) error {
	if text := s.withRecorded(recorded); !bytes.Equal(text, s.text) {
		return write(s.Name, text)
	}
	return nil
}

// withRecorded returns the text of the script with the texts in recorded, which maps the index of a file in the archive to
// its new text. It adds an empty line after each step.
func (s *Script) withRecorded(recorded map[int]string) []byte {
	archive := &txtar.Archive{Comment: s.archive.Comment, Files: slices.Clone(s.archive.Files)}
	for i, text := range recorded {
		archive.Files[i].Data = []byte(text)
	}
	for i, file := range archive.Files[:len(archive.Files)-1] {
		_, expects := newExpectation(file.Name)
		if _, goesOn := newExpectation(archive.Files[i+1].Name); expects && !goesOn {
			archive.Files[i].Data = slices.Concat(bytes.TrimRight(file.Data, "\n"), []byte("\n\n")) // Concat copies: appending would modify the script's text
		}
	}
	return txtar.Format(archive)
}
