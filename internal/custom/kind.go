package custom

import (
	"context"
	"slices"
	"time"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/kinds"
	"github.com/cadastre/cadastre/internal/objects"
	"github.com/cadastre/cadastre/internal/store"
	"github.com/cadastre/cadastre/schema"
)

// Definitions is what the kind of CustomResourceDefinitions is called in keys.
const Definitions = "apiextensions.k8s.io/customresourcedefinitions"

const (
	definitionsGroup = "apiextensions.k8s.io"
	definitionsName  = "customresourcedefinitions"
	definitionsKind  = "CustomResourceDefinition"
)

// cleanup is the finalizer of definitions whose objects must go before them.
const cleanup = "customresourcecleanup.apiextensions.k8s.io"

// Kind returns the kind of CustomResourceDefinitions.
func Kind() *kinds.Kind {
	created := document.NewMap(
		document.Field{Name: "acceptedNames", Value: document.NewMap(
			document.Field{Name: "kind", Value: document.NewString("")},
			document.Field{Name: "plural", Value: document.NewString("")},
		)},
		document.Field{Name: "conditions", Value: document.NewNull()},
		document.Field{Name: "storedVersions", Value: document.NewNull()},
	)
	return &kinds.Kind{
		Group: definitionsGroup, Name: definitionsKind, Resource: definitionsName, Versions: []string{"v1"},
		ShortNames: []string{"crd", "crds"}, Categories: []string{"api-extensions"}, HasStatus: true,
		Generation: kinds.Generation{First: 1, Counted: [][]string{{"spec"}}},
		Wipes: []kinds.Wipe{
			{Path: []string{"status"}, Reset: true, OnUpdate: true, OnCreate: true, Created: created},
			{Endpoint: "status", Path: []string{"spec"}, Reset: true, OnUpdate: true},
		},
		Traits:     kinds.Traits{PutVersioned: true},
		Definition: definitionOfDefinitions{},
	}
}

// definitionOfDefinitions is what the kind of CustomResourceDefinitions brings with it.
type definitionOfDefinitions struct{}

// Topology implements kinds.Definition.
func (definitionOfDefinitions) Topology(version string) (*schema.Type, bool) {
	if version != "v1" {
		return nil, false
	}
	return kinds.DefinitionTopology()
}

// Convert implements kinds.Definition. There is one version.
func (definitionOfDefinitions) Convert(doc document.Value, _, _ string) (document.Value, error) {
	return doc, nil
}

// Subresources implements kinds.Definition.
func (definitionOfDefinitions) Subresources(string) kinds.Subresources {
	return kinds.Subresources{Status: true}
}

// Values implements objects.Definition.
func (definitionOfDefinitions) Values(string) (objects.Values, error) { return definitionValues{}, nil }

// Prepare implements kinds.Preparer: the version that objects are stored at from now on is noted.
func (definitionOfDefinitions) Prepare(endpoint string, obj, _ document.Value) document.Value {
	if endpoint != "" {
		return obj
	}
	return withStoredVersion(obj)
}

func withStoredVersion(obj document.Value) document.Value {
	status := obj.Get("status")
	versions := status.Get("storedVersions")
	now := read(obj).stored()
	if now == "" || slices.Contains(texts(versions), now) {
		return obj
	}
	return obj.With("status", status.With("storedVersions", textList(append(texts(versions), now))))
}

// Extra returns what definitions get beside what all kinds get: they wait until their objects are gone, and what they were is kept until
// owners are as they are now.
func Extra(now func() time.Time) objects.Extra {
	return objects.Extra{
		Mark: func(doc document.Value) (document.Value, bool) { return marked(doc, now()) },
		Reserve: func(_ context.Context, obj, live document.Value, _ bool) (document.Value, []store.Write, error) {
			return obj, keepFormer(obj, live), nil // which a dry run does not write
		},
	}
}

// marked returns a definition as a deletion marks it; ok is false if one has before.
func marked(doc document.Value, now time.Time) (_ document.Value, ok bool) {
	metadata := doc.Get("metadata")
	if !metadata.Get("deletionTimestamp").IsAbsent() {
		return doc, false
	}
	finalizers := slices.DeleteFunc(texts(metadata.Get("finalizers")), func(f string) bool { return f == cleanup })
	doc = doc.With("metadata", metadata.
		With("deletionTimestamp", document.NewString(now.UTC().Format(time.RFC3339))).
		With("finalizers", textList(append(finalizers, cleanup))))
	return withConditions(doc, now, condition{"Terminating", true, "InstanceDeletionPending",
		"CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"}), true
}

func textList(all []string) document.Value {
	items := make([]document.Value, len(all))
	for i, text := range all {
		items[i] = document.NewString(text)
	}
	return document.NewList(items...)
}
