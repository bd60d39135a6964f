package apply

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/fieldset"
)

// FieldError says what is wrong with one field.
type FieldError struct {
	Path fieldset.Path
	// Problem says what was expected, what was received, and what can be done.
	Problem string
}

func (e FieldError) Error() string {
	if len(e.Path) == 0 {
		return e.Problem
	}
	return e.Path.String() + ": " + e.Problem
}

// InvalidError is the error for a configuration that does not fit its kind.
type InvalidError struct{ Fields []FieldError }

func (e *InvalidError) Error() string {
	if len(e.Fields) == 1 {
		return "invalid configuration: " + e.Fields[0].Error()
	}
	lines := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		lines[i] = "\n- " + f.Error()
	}
	return fmt.Sprintf("invalid configuration: %d problems:%s", len(e.Fields), strings.Join(lines, ""))
}

// EntryError is the error for an entry of managedFields that can't be used.
type EntryError struct {
	// Index is the entry's place in managedFields; -1 if these are no list of entries at all.
	Index   int
	Problem string
	// Err is why, if another package found it; it may be nil.
	Err error
}

func (e *EntryError) Error() string {
	text := ".metadata.managedFields"
	if e.Index >= 0 {
		text += "[" + strconv.Itoa(e.Index) + "]"
	}
	text += ": " + e.Problem
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *EntryError) Unwrap() error { return e.Err }
