package crdlint

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cadastre/cadastre/document"
)

// Severity is the severity of a finding.
type Severity string

// The severities, in ascending order. A Note is about a topology that is correct in some designs. A Warning is about a
// topology with which independent appliers conflict or overwrite each other. An Error is about a topology that
// kube-apiserver rejects, or with which two applied items have the same identity.
const (
	Note    Severity = "note"
	Warning Severity = "warning"
	Error   Severity = "error"
)

// Severities lists all severities in ascending order.
var Severities = []Severity{Note, Warning, Error}

// AtLeast reports whether s is limit or more severe than limit.
func (s Severity) AtLeast(limit Severity) bool {
	return slices.Index(Severities, s) >= slices.Index(Severities, limit)
}

// Finding is a list type or map type with which appliers conflict or overwrite each other.
type Finding struct {
	// Definition is the name of the CustomResourceDefinition, Version the version of the schema.
	Definition string `json:"definition"`
	Version    string `json:"version"`
	// Field is the path of the list or map in an object, such as spec.ports[]; it is empty for the object itself.
	Field string `json:"field"`
	// Path is the JSON path of the schema object in the definition.
	Path string `json:"path"`
	// Rule is the name of the rule, such as list-without-type.
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	// Reason states what happens to appliers, Fix the suggested change of the definition.
	Reason string `json:"reason"`
	Fix    string `json:"fix"`
}

// Lint returns the findings of a CustomResourceDefinition in the order of its versions and of the paths in a version.
// It returns an error if the document is not a definition of apiextensions.k8s.io/v1.
func Lint(definition document.Value) ([]Finding, error) {
	if err := check(definition); err != nil {
		return nil, err
	}
	var found []Finding
	var versions []topologies
	for i, version := range definition.Lookup("spec", "versions").Items() {
		if served := version.Get("served"); served.Kind() == document.Bool && !served.Bool() {
			continue // the version is not served, so no applier can write at it
		}
		v := &visitor{
			name: definition.Lookup("metadata", "name").Text(), version: version.Get("name").Text(), topologies: topologies{},
		}
		v.visitVersion(version, path("spec.versions").index(i))
		slices.SortStableFunc(v.findings, func(a, b Finding) int { return cmp.Compare(a.Field, b.Field) })
		found = append(found, v.findings...)
		versions = append(versions, v.topologies)
		if n := len(versions); n > 1 {
			found = append(found, v.compare(versions[n-2])...)
		}
	}
	return found, nil
}

func check(definition document.Value) error {
	const kind, apiVersion = "CustomResourceDefinition", "apiextensions.k8s.io/v1"
	if definition.Kind() != document.Map {
		return fmt.Errorf("expected a %s, received %s", kind, definition.Kind())
	}
	if got := definition.Get("kind").Text(); got != kind {
		return fmt.Errorf("kind: expected %s, received %q", kind, got)
	}
	if got := definition.Get("apiVersion").Text(); got != apiVersion {
		return fmt.Errorf("apiVersion: expected %s, received %q; convert the definition to this version", apiVersion, got)
	}
	if definition.Lookup("spec", "versions").Kind() != document.List {
		return fmt.Errorf("spec.versions: expected a list of versions, received %s", definition.Lookup("spec", "versions").JSON())
	}
	return nil
}
