package cli

import (
	"context"
	"fmt"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cli/cluster"
	"github.com/cadastre/cadastre/ownership"
)

// When the field manager kubectl applies, servers copy the applied configuration to the last-applied-configuration
// annotation. A precondition (uid or resourceVersion) in the configuration would be copied as well, and would break a
// later client-side apply. It is therefore removed from the annotation by a second apply with the field manager that
// kubectl uses for the annotation.

// sendWithPrecondition applies the configuration on the condition that the metadata field with the given name (uid or
// resourceVersion) still has the value that was read.
func (a *applyOperation) sendWithPrecondition(ctx context.Context, name string, force, dryRun bool) (apply.Object, error) {
	if name == "uid" && a.serverUpdatesLastApplied() {
		// A dry run is sent first to detect a no-op, which must not write the annotation: that would take two writes.
		preview, err := a.send(ctx, a.config, force, true)
		if err != nil || dryRun || isSameObject(preview, a.live) {
			return preview, err
		}
	}
	after, err := a.send(ctx, a.withPrecondition(name), force, dryRun)
	if err == nil && dryRun {
		after.Document = a.withoutPrecondition(after.Document)
	}
	if err != nil || !a.serverUpdatesLastApplied() {
		return after, err
	}
	annotation := lastApplied(after.Document)
	clean := withoutMetadataField(annotation, name)
	switch {
	case clean == annotation:
		return after, nil
	case dryRun:
		after.Document = setAt(after.Document, document.NewString(clean), "metadata", "annotations", ownership.LastAppliedAnnotation)
		return after, nil
	}
	return a.writeLastApplied(ctx, after, clean)
}

// serverUpdatesLastApplied reports whether the server copies the applied configuration to the last-applied-configuration
// annotation.
func (a *applyOperation) serverUpdatesLastApplied() bool {
	return a.manager == ownership.KubectlManager && lastApplied(a.live.Document) != ""
}

func lastApplied(doc document.Value) string {
	return doc.Lookup("metadata", "annotations", ownership.LastAppliedAnnotation).Text()
}

// withLastApplied returns the object with the last-applied-configuration annotation that the server would write on apply.
func (a *applyOperation) withLastApplied(doc document.Value) document.Value {
	if !a.serverUpdatesLastApplied() {
		return doc
	}
	recorded := a.config
	if annotations := recorded.Lookup("metadata", "annotations"); !annotations.IsAbsent() {
		recorded = setAt(recorded, annotations.Without(ownership.LastAppliedAnnotation), "metadata", "annotations")
	}
	return setAt(doc, document.NewString(recorded.JSON()+"\n"), "metadata", "annotations", ownership.LastAppliedAnnotation)
}

// withoutMetadataField returns text, a configuration in a last-applied-configuration annotation, without the metadata
// field with the given name. It returns text unchanged if the configuration cannot be parsed or does not contain the
// field.
func withoutMetadataField(text, name string) string {
	config, err := document.ParseJSON(text)
	if err != nil || config.Lookup("metadata", name).IsAbsent() {
		return text
	}
	return config.With("metadata", config.Get("metadata").Without(name)).JSON() + "\n"
}

// writeLastApplied sets the last-applied-configuration annotation of o to text, on the condition that the live object
// still has the uid of o.
func (a *applyOperation) writeLastApplied(ctx context.Context, o apply.Object, text string) (apply.Object, error) {
	metadata := document.NewMap(
		document.Field{Name: "name", Value: document.NewString(a.target.name)},
		document.Field{Name: "uid", Value: o.Document.Lookup("metadata", "uid")},
		document.Field{Name: "annotations", Value: document.NewMap(document.Field{Name: ownership.LastAppliedAnnotation, Value: document.NewString(text)})},
	)
	config := document.NewMap(
		document.Field{Name: "apiVersion", Value: a.config.Get("apiVersion")}, document.Field{Name: "kind", Value: a.config.Get("kind")},
		document.Field{Name: "metadata", Value: metadata},
	)
	options := cluster.ApplyOptions{Manager: ownership.LastAppliedManager, Force: true}
	after, err := a.cluster.Apply(ctx, a.target.kind, a.target.namespace, a.target.name, config, options)
	if err != nil {
		return o, fmt.Errorf("applied, but the annotation %s could not be corrected; apply again: %w", ownership.LastAppliedAnnotation, err)
	}
	return after, nil
}
