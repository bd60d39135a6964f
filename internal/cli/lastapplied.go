package cli

import (
	"context"
	"fmt"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cli/cluster"
	"github.com/cadastre/cadastre/ownership"
)

// Servers keep the annotation of client-side apply up to date when kubectl applies: it gets the whole configuration.
// That which object is meant was said in there is nothing that anybody configured, and would be in the way of who goes
// back to client-side apply. It is taken out again as kubectl writes the annotation: by an applier of its own.

// sendAsRead applies, provided that the object is the one that was read: that of the same uid, or of the same
// resourceVersion.
func (a *applyOperation) sendWithPrecondition(ctx context.Context, name string, force, dryRun bool) (apply.Object, error) {
	if name == "uid" && a.serverUpdatesLastApplied() {
		// What would change nothing must not change the annotation, twice.
		tried, err := a.send(ctx, a.config, force, true)
		if err != nil || dryRun || isSameObject(tried, a.live) {
			return tried, err
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

// keepsLastApplied reports whether the server writes what is applied into the annotation.
func (a *applyOperation) serverUpdatesLastApplied() bool {
	return a.manager == ownership.KubectlManager && lastApplied(a.live.Document) != ""
}

func lastApplied(doc document.Value) string {
	return doc.Lookup("metadata", "annotations", ownership.LastAppliedAnnotation).Text()
}

// withLastApplied is the object with what the server notes in the annotation when it is applied to.
func (a *applyOperation) withLastApplied(doc document.Value) document.Value {
	if !a.serverUpdatesLastApplied() {
		return doc
	}
	noted := a.config
	if annotations := noted.Lookup("metadata", "annotations"); !annotations.IsAbsent() {
		noted = setAt(noted, annotations.Without(ownership.LastAppliedAnnotation), "metadata", "annotations")
	}
	return setAt(doc, document.NewString(noted.JSON()+"\n"), "metadata", "annotations", ownership.LastAppliedAnnotation)
}

// withoutMetadata takes a field of the metadata out of a configuration in an annotation.
func withoutMetadataField(text, name string) string {
	config, err := document.ParseJSON(text)
	if err != nil || config.Lookup("metadata", name).IsAbsent() {
		return text
	}
	return config.With("metadata", config.Get("metadata").Without(name)).JSON() + "\n"
}

// writeLastApplied writes the annotation of an object that is still the same one.
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
		return o, fmt.Errorf("it was applied, but the annotation %s could not be put right; apply again: %w", ownership.LastAppliedAnnotation, err)
	}
	return after, nil
}
