package differential

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/cadastre/cadastre/document"
)

// This file has what is still expected where answers differ on purpose.

func anything([]txtar.File) []txtar.File { return nil }

func withoutOwners(expected []txtar.File) []txtar.File {
	return slices.DeleteFunc(expected, func(f txtar.File) bool { return f.Name == "owners" })
}

// withoutProtection takes the finalizers of Kubernetes out of an object: there are no others in it.
func withoutProtection(expected []txtar.File) []txtar.File {
	for i, file := range expected {
		if object, err := document.ParseYAML(file.Data); err == nil && file.Name == "object" {
			metadata := object.Get("metadata").Without("finalizers")
			expected[i].Data = []byte(object.With("metadata", metadata).YAML() + "\n")
		}
	}
	return expected
}

func onlyAnswer(expected []txtar.File) []txtar.File { return expected[:1] }

// changedOrNot leaves the status alone.
func changedOrNot(expected []txtar.File) []txtar.File {
	code, _, _ := strings.Cut(string(expected[0].Data), " ")
	expected[0].Data = []byte(strings.TrimSpace(code) + "\n")
	return expected
}

// writtenOrNot lets what is written again without a change be left alone, and nothing that is left alone be written.
func writtenOrNot(expected []txtar.File) []txtar.File {
	if strings.TrimSpace(string(expected[0].Data)) == "200 changed" {
		return changedOrNot(expected)
	}
	return expected
}

// onlyObject leaves the status and the owners alone.
func onlyObject(expected []txtar.File) []txtar.File { return changedOrNot(withoutOwners(expected)) }

// anyValues lets maps that are shown in an error, and how they differ, be anything.
func anyValues(expected []txtar.File) []txtar.File {
	for i, file := range expected {
		if status, err := document.ParseYAML(file.Data); err == nil && file.Name == "error" {
			expected[i].Data = []byte(anyValuesIn(status).YAML() + "\n")
		}
	}
	return expected
}

func anyValuesIn(v document.Value) document.Value {
	for _, p := range places(v) {
		if text := at(v, p); text.Kind() == document.String {
			masked := differenceIn.ReplaceAllString(mapIn.ReplaceAllString(text.Text(), "$1 value: <any>$2"), "<any>")
			v = replaced(v, p, document.NewString(masked))
		}
	}
	return v
}

var (
	mapIn        = regexp.MustCompile(`(Invalid|Unsupported|Duplicate) value: (?:null|[{\[].*[}\]]|"(?:map\[.*\]|\{.*\})")(: |, |\]|$)`)
	differenceIn = regexp.MustCompile(`(?s)\n@@.*`)
)

func badRequest(expected []txtar.File) []txtar.File { return onlyCode(expected, 400) }

func notFound(expected []txtar.File) []txtar.File { return onlyCode(expected, 404) }

func onlyCode(expected []txtar.File, code int) []txtar.File {
	expected[0].Data = fmt.Appendln(nil, code)
	return expected[:1]
}
