package differential

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/cadastre/cadastre/document"
)

// script returns the history as a script of package applytest, without expectations.
func (h History) script() []byte {
	archive := &txtar.Archive{Comment: fmt.Appendf(nil, "Found by make differential, seed %d.\n\n", h.Seed)}
	for i, s := range h.Steps {
		archive.Files = append(archive.Files, txtar.File{Name: stepName(i, s), Data: s.request()})
		for _, expectation := range s.expectations() {
			archive.Files = append(archive.Files, txtar.File{Name: expectation})
		}
	}
	return txtar.Format(archive)
}

// stepName returns the name of the step s with index i. It starts with the number i+1.
func stepName(i int, s Step) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s %s", i+1, strings.ToLower(s.Verb), s.Manager))
}

// stepIndex returns the index of the step with the given name. It returns false if name is not the name of a step.
func stepIndex(name string) (int, bool) {
	number, _, _ := strings.Cut(name, " ")
	n, err := strconv.Atoi(number)
	return n - 1, err == nil
}

func (s Step) request() []byte {
	var text bytes.Buffer
	text.WriteString(s.Verb + " " + s.Address)
	if s.Manager != "" {
		text.WriteString(" as " + s.Manager)
	}
	if s.Force {
		text.WriteString(" force")
	}
	if s.DryRun {
		text.WriteString(" dryRun")
	}
	if s.Validation != "" {
		text.WriteString(" fieldValidation=" + s.Validation)
	}
	text.WriteString("\n")
	for _, header := range [][2]string{{"User-Agent", s.Agent}, {"Content-Type", s.Media}, {"Accept", s.Accept}} {
		if header[1] != "" {
			text.WriteString(header[0] + ": " + header[1] + "\n")
		}
	}
	if !s.Body.IsAbsent() {
		// The variable of a resourceVersion is quoted, because its value must be a string.
		text.WriteString("\n" + strings.ReplaceAll(s.Body.YAML(), "resourceVersion: $resourceVersion", `resourceVersion: "$resourceVersion"`))
	}
	return text.Bytes()
}

// expectations lists the parts of the response that are recorded. For a deletion it is only the status.
func (s Step) expectations() []string {
	if s.Verb == "DELETE" {
		return []string{"answer"}
	}
	return []string{"answer", "object", "owners", "warnings"}
}

// recorded is a script that contains the responses of a server, as a txtar archive.
type recorded struct{ archive *txtar.Archive }

// mapSteps calls f with the index, the status code and the expectations of every step, and replaces the expectations
// with the result. code is 0 if the step has no response.
func (r recorded) mapSteps(f func(step int, code int, expected []txtar.File) []txtar.File) {
	var files []txtar.File
	for i := 0; i < len(r.archive.Files); {
		step, _ := stepIndex(r.archive.Files[i].Name)
		files = append(files, r.archive.Files[i])
		end := i + 1
		for end < len(r.archive.Files) && !isStep(r.archive.Files[end].Name) {
			end++
		}
		code := 0
		if end > i+1 {
			_, _ = fmt.Sscan(string(r.archive.Files[i+1].Data), &code) // without a response, code remains 0
		}
		files = append(files, f(step, code, r.archive.Files[i+1:end])...)
		i = end
	}
	r.archive.Files = files
}

// cut removes all steps after the step with index last.
func (r recorded) cut(last int) {
	i := slices.IndexFunc(r.archive.Files, func(f txtar.File) bool {
		step, ok := stepIndex(f.Name)
		return ok && step > last
	})
	if i >= 0 {
		r.archive.Files = r.archive.Files[:i]
	}
}

func isStep(name string) bool {
	_, ok := stepIndex(name)
	return ok
}

// expectErrors replaces the expected object and managedFields of rejected requests with the expected error.
func (r recorded) expectErrors() {
	r.mapSteps(func(_, code int, expected []txtar.File) []txtar.File {
		if code < 400 || len(expected) < 2 {
			return expected
		}
		status, err := document.ParseYAML(expected[1].Data)
		if err != nil {
			return expected[:1]
		}
		withError := []txtar.File{expected[0], {Name: "error", Data: []byte(errorOf(status).YAML() + "\n")}}
		return append(withError, slices.DeleteFunc(expected[1:], func(f txtar.File) bool { return f.Name != "warnings" })...)
	})
}

// errorOf returns the error in status, a Status, as an expectation in the format of scripts.
func errorOf(status document.Value) document.Value {
	expected := document.NewMap()
	for _, name := range []string{"reason", "message"} {
		if value := status.Get(name); !value.IsAbsent() {
			expected = expected.With(name, value)
		}
	}
	var causes []document.Value
	for _, cause := range status.Lookup("details", "causes").Items() {
		if cause.Get("reason").Text() == "FieldManagerConflict" {
			cause = cause.With("message", document.NewString(conflictPrefix(cause.Get("message").Text())+"<any>"))
		}
		causes = append(causes, cause)
	}
	if len(causes) > 0 {
		expected = expected.With("causes", document.NewList(causes...))
	}
	return expected
}

// conflictPrefix returns the part of a conflict message up to and including the field manager and its API version.
// Causes are sorted by it.
func conflictPrefix(message string) string {
	owner, _, _ := strings.Cut(message, ": ")
	return owner
}
