package admissiontest

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission"
)

// Case is one write and the recorded answer of kube-apiserver's admission plugin to it.
type Case struct {
	Name      string
	Operation admission.Operation
	Resource  admission.Resource
	// Stored are the other objects in the store, such as the namespace of the written object.
	Stored []document.Value
	// Object is the new object of the write, Old the stored object that the write replaces; each is absent if there is none.
	Object, Old document.Value
	// Answer is the answer that was recorded from kube-apiserver's plugin.
	Answer Answer
	// text is the source text of the case without the lines of its answer, for FormatCases.
	text string
}

// Answer is the result of running an admission plugin on a case.
type Answer struct {
	// Admitted is the object after the plugin, without empty fields; absent if the plugin did not change the object.
	Admitted document.Value
	// Error is the plugin's error as formatted by [ErrorText]; "" if the plugin admitted the write.
	Error string
}

// ReadCases reads and parses a file of cases. The package comment describes the format.
func ReadCases(file string) ([]*Case, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return ParseCases(string(text))
}

// ParseCases parses cases, which are separated by empty lines.
func ParseCases(text string) (cases []*Case, err error) {
	for block := range strings.SplitSeq(text, "\n\n") {
		if strings.Trim(block, "\n") == "" {
			continue
		}
		c := &Case{Operation: admission.Create}
		if err := c.parse(strings.Trim(block, "\n")); err != nil {
			return nil, fmt.Errorf("case %q: %w", c.Name, err)
		}
		cases = append(cases, c)
	}
	return cases, nil
}

func (c *Case) parse(block string) error {
	var kept []string
	for line := range strings.SplitSeq(strings.ReplaceAll(block, "\n ", "\x00"), "\n") {
		line = strings.ReplaceAll(line, "\x00", "\n ")
		key, value, _ := strings.Cut(line, ":")
		isAnswer, err := c.set(key, strings.TrimSpace(value))
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		if !isAnswer {
			kept = append(kept, line)
		}
	}
	c.text = strings.Join(kept, "\n")
	if c.Resource.Kind == "" {
		return errors.New("expected a line resource: RESOURCE, received none")
	}
	kind, _ := kinds().Resource(c.Resource.Group, "", c.Resource.Resource)
	c.Object, c.Old = complete(c.Object, kind), complete(c.Old, kind)
	return nil
}

// set sets the field of the case for a line "key: value". It reports whether the line is part of the recorded answer.
func (c *Case) set(key, value string) (isAnswer bool, err error) {
	var doc document.Value
	switch key {
	case "stored", "object", "old", "admitted":
		if doc, err = document.ParseYAML([]byte(value)); err != nil {
			return false, err
		}
	}
	switch key {
	case "case":
		c.Name = value
	case "operation":
		c.Operation = admission.Operation(value)
	case "resource":
		c.Resource, err = Resource(value)
	case "stored":
		kind, kindErr := kindOf(doc)
		if kindErr != nil {
			return false, kindErr
		}
		c.Stored = append(c.Stored, complete(doc, kind))
	case "object":
		c.Object = doc
	case "old":
		c.Old = doc
	case "admitted":
		c.Answer.Admitted, isAnswer = doc, true
	case "error":
		c.Answer.Error, isAnswer = value, true
	default:
		if !strings.HasPrefix(key, "#") {
			err = errors.New("the key is unknown")
		}
	}
	return isAnswer, err
}

// FormatCases returns the text of the cases in the format of ParseCases, each case with its current Answer.
func FormatCases(cases []*Case) string {
	var text strings.Builder
	for i, c := range cases {
		if i > 0 {
			text.WriteString("\n")
		}
		text.WriteString(c.text + "\n")
		if !c.Answer.Admitted.IsAbsent() {
			text.WriteString("admitted: " + c.Answer.Admitted.JSON() + "\n")
		}
		if c.Answer.Error != "" {
			text.WriteString("error: " + c.Answer.Error + "\n")
		}
	}
	return text.String()
}
