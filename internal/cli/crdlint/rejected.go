package crdlint

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/crd"
)

// Rejections returns a finding for each error with which kube-apiserver rejects the creation of a CustomResourceDefinition. It omits
// errors about lists and maps for which found has an Error with more explanation. It returns an error if the definition cannot be
// decoded.
func Rejections(definition document.Value, found []Finding) ([]Finding, error) {
	errs, err := crd.CheckDefinition(definition)
	if err != nil {
		return nil, err
	}
	var rejections []Finding
	for _, e := range errs {
		at := pathOf(e.Field)
		if slices.ContainsFunc(found, func(f Finding) bool { return f.Severity == Error && isAtOrBelow(at, f.Path) }) {
			continue
		}
		if f := rejection(definition, at, e); !slices.Contains(rejections, f) {
			rejections = append(rejections, f)
		}
	}
	return rejections, nil
}

func rejection(definition document.Value, at string, e *field.Error) Finding {
	f := Finding{
		Definition: definition.Lookup("metadata", "name").Text(), Path: at, Rule: "rejected", Severity: Error,
		Reason: "kube-apiserver rejects the definition: " + strings.Join(strings.Fields(e.ErrorBody()), " "),
		Fix:    "correct the value; the server that creates the definition reports the same error",
	}
	if version := versionIndex.FindStringSubmatch(at); version != nil {
		i, _ := strconv.Atoi(version[1])
		if versions := definition.Lookup("spec", "versions"); i < versions.Len() {
			f.Version = versions.At(i).Get("name").Text()
		}
	}
	return f
}

var versionIndex = regexp.MustCompile(`^spec\.versions\[(\d+)\]`)

// namedParts are the keywords of a schema whose parts Kubernetes' errors name in brackets.
var namedParts = regexp.MustCompile(`(properties|patternProperties|definitions|dependencies)\[([^\]]*)\]`)

// internalFields are the fields to which Kubernetes moves those of spec.versions if all versions have the same, before it validates a
// definition.
var internalFields = regexp.MustCompile(`^spec\.(validation|subresources|additionalPrinterColumns|selectableFields|version)\b`)

// versionedFields are the fields of a version of which internalFields are copies.
var versionedFields = map[string]string{"validation": "schema", "version": "name"}

// pathOf returns the path of an error of Kubernetes in the form of Finding.Path: spec.validation.openAPIV3Schema.properties[a] becomes
// spec.versions[0].schema.openAPIV3Schema.properties.a.
func pathOf(text string) string {
	if match := internalFields.FindStringSubmatch(text); match != nil {
		text = "spec.versions[0]." + cmp.Or(versionedFields[match[1]], match[1]) + text[len(match[0]):]
	}
	return namedParts.ReplaceAllStringFunc(text, func(part string) string {
		match := namedParts.FindStringSubmatch(part)
		return string(path(match[1]).field(match[2]))
	})
}

// isAtOrBelow reports whether a path is that of a value or of a part of it.
func isAtOrBelow(at, value string) bool {
	rest, ok := strings.CutPrefix(at, value)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
