package differential

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/cadastre/cadastre/document"
)

// This file contains functions that loosen expectations for deliberate differences.

func expectNothing([]txtar.File) []txtar.File { return nil }

func withoutOwners(expected []txtar.File) []txtar.File {
	return slices.DeleteFunc(expected, func(f txtar.File) bool { return f.Name == "owners" })
}

// withoutProtection removes the finalizers from the expected object. The finalizers of protected kinds are only those
// that Kubernetes adds.
func withoutProtection(expected []txtar.File) []txtar.File {
	for i, file := range expected {
		if object, err := document.ParseYAML(file.Data); err == nil && file.Name == "object" {
			metadata := object.Get("metadata").Without("finalizers")
			expected[i].Data = []byte(object.With("metadata", metadata).YAML() + "\n")
		}
	}
	return expected
}

func expectStatus(expected []txtar.File) []txtar.File { return expected[:1] }

// ignoreChanged removes "changed" or "unchanged" from the expected status.
func ignoreChanged(expected []txtar.File) []txtar.File {
	code, _, _ := strings.Cut(string(expected[0].Data), " ")
	expected[0].Data = []byte(strings.TrimSpace(code) + "\n")
	return expected
}

// allowNoOp accepts a no-op where kube-apiserver has written the object, but not a write where kube-apiserver has not.
func allowNoOp(expected []txtar.File) []txtar.File {
	if strings.TrimSpace(string(expected[0].Data)) == "200 changed" {
		return ignoreChanged(expected)
	}
	return expected
}

// expectObject removes the expected managedFields, and "changed" from the expected status.
func expectObject(expected []txtar.File) []txtar.File { return ignoreChanged(withoutOwners(expected)) }

// maskValues masks the maps and diffs in the expected error messages.
func maskValues(expected []txtar.File) []txtar.File {
	for i, file := range expected {
		if status, err := document.ParseYAML(file.Data); err == nil && file.Name == "error" {
			expected[i].Data = []byte(maskValuesIn(status).YAML() + "\n")
		}
	}
	return expected
}

func maskValuesIn(v document.Value) document.Value {
	for _, p := range fieldPaths(v) {
		if text := valueAt(v, p); text.Kind() == document.String {
			masked := diffPattern.ReplaceAllString(mapPattern.ReplaceAllString(text.Text(), "$1 value: <any>$2"), "<any>")
			v = withValue(v, p, document.NewString(masked))
		}
	}
	return v
}

var (
	mapPattern  = regexp.MustCompile(`(Invalid|Unsupported|Duplicate) value: (?:null|[{\[].*[}\]]|"(?:map\[.*\]|\{.*\})")(: |, |\]|$)`)
	diffPattern = regexp.MustCompile(`(?s)\n@@.*`)
)

func expectBadRequest(expected []txtar.File) []txtar.File { return expectCode(expected, 400) }

func expectNotFound(expected []txtar.File) []txtar.File { return expectCode(expected, 404) }

func expectCode(expected []txtar.File, code int) []txtar.File {
	expected[0].Data = fmt.Appendln(nil, code)
	return expected[:1]
}
