package crd

import (
	"slices"
	"time"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/api/strategy"
	"github.com/cadastre/cadastre/schema"
)

// Definitions is the store name of CustomResourceDefinitions: the group and resource in storage keys.
const Definitions = "apiextensions.k8s.io/customresourcedefinitions"

// Group, resource and kind of CustomResourceDefinitions.
const (
	DefinitionsGroup    = "apiextensions.k8s.io"
	DefinitionsResource = "customresourcedefinitions"
	definitionsKind     = "CustomResourceDefinition"
)

// CleanupFinalizer is the finalizer that delays the deletion of a CustomResourceDefinition until its custom resources are
// deleted.
const CleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io"

// Kind returns the kind CustomResourceDefinition.
func Kind() *api.Kind {
	created := document.NewMap(
		document.Field{Name: "acceptedNames", Value: document.NewMap(
			document.Field{Name: "kind", Value: document.NewString("")},
			document.Field{Name: "plural", Value: document.NewString("")},
		)},
		document.Field{Name: "conditions", Value: document.NewNull()},
		document.Field{Name: "storedVersions", Value: document.NewNull()},
	)
	return &api.Kind{
		Group: DefinitionsGroup, Name: definitionsKind, Resource: DefinitionsResource, Versions: []string{"v1"},
		ShortNames: []string{"crd", "crds"}, Categories: []string{"api-extensions"}, Subresources: []string{api.StatusSubresource},
		Generation: api.Generation{First: 1, Counted: [][]string{{"spec"}}},
		ResetFields: []api.ResetField{
			{Path: []string{"status"}, Unowned: true, OnUpdate: true, OnCreate: true, Created: created},
			{Endpoint: "status", Path: []string{"spec"}, Unowned: true, OnUpdate: true},
		},
		Traits:     api.Traits{RequireResourceVersion: true},
		Definition: definitionStrategy{},
	}
}

// definitionStrategy implements strategy.Definition for CustomResourceDefinitions.
type definitionStrategy struct{}

// Topology implements api.Definition.
func (definitionStrategy) Topology(version string) (*schema.Type, bool) {
	if version != "v1" {
		return nil, false
	}
	return api.DefinitionTopology()
}

// Convert implements api.Definition. It returns doc unchanged, because CustomResourceDefinitions have only one version.
func (definitionStrategy) Convert(doc document.Value, _, _ string) (document.Value, error) {
	return doc, nil
}

// Subresources implements api.Definition.
func (definitionStrategy) Subresources(string) []string { return []string{api.StatusSubresource} }

// ScalePaths implements api.Definition. It returns nil, because CustomResourceDefinitions have no scale subresource.
func (definitionStrategy) ScalePaths(string) *api.ScalePaths { return nil }

// Values implements strategy.Definition.
func (definitionStrategy) Values(string) (strategy.Values, error) {
	return definitionValues{}, nil
}

// Prepare implements api.Preparer. A write at the main endpoint adds the storage version to status.storedVersions.
func (definitionStrategy) Prepare(endpoint string, obj, _ document.Value) document.Value {
	if endpoint != "" {
		return obj
	}
	return withStoredVersion(obj)
}

func withStoredVersion(obj document.Value) document.Value {
	status := obj.Get("status")
	versions := status.Get("storedVersions")
	now := Parse(obj).StorageVersion()
	if now == "" || slices.Contains(stringItems(versions), now) {
		return obj
	}
	return obj.With("status", status.With("storedVersions", stringList(append(stringItems(versions), now))))
}

// MarkDeleted returns a CustomResourceDefinition with deletionTimestamp, CleanupFinalizer and the condition Terminating; ok is
// false if doc has a deletionTimestamp already.
func MarkDeleted(doc document.Value, now time.Time) (_ document.Value, ok bool) {
	metadata := doc.Get("metadata")
	if !metadata.Get("deletionTimestamp").IsAbsent() {
		return doc, false
	}
	finalizers := slices.DeleteFunc(stringItems(metadata.Get("finalizers")), func(f string) bool { return f == CleanupFinalizer })
	doc = doc.With("metadata", metadata.
		With("deletionTimestamp", document.NewString(now.UTC().Format(time.RFC3339))).
		With("finalizers", stringList(append(finalizers, CleanupFinalizer))))
	return WithConditions(doc, now, Condition{"Terminating", true, "InstanceDeletionPending",
		"CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"}), true
}

func stringList(all []string) document.Value {
	items := make([]document.Value, len(all))
	for i, text := range all {
		items[i] = document.NewString(text)
	}
	return document.NewList(items...)
}

// WithoutCleanupFinalizer returns a CustomResourceDefinition without CleanupFinalizer, which MarkDeleted adds.
func WithoutCleanupFinalizer(doc document.Value) document.Value {
	kept := slices.DeleteFunc(stringItems(doc.Lookup("metadata", "finalizers")), func(f string) bool { return f == CleanupFinalizer })
	metadata := doc.Get("metadata").With("finalizers", stringList(kept))
	if len(kept) == 0 {
		metadata = metadata.Without("finalizers")
	}
	return doc.With("metadata", metadata)
}
