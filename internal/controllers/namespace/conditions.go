package namespace

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cadastre/cadastre/document"
)

// condition is a condition of a terminating namespace, with Kubernetes' types, reasons and messages.
type condition struct{ name, reason, message string }

// successConditions are the conditions, with status False, of a terminating namespace without deletion errors and remaining
// objects.
var successConditions = []condition{
	{"NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered"},
	{"NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions", "All legacy kube types successfully parsed"},
	{"NamespaceDeletionContentFailure", "ContentDeleted", "All content successfully deleted, may be waiting on finalization"},
	{"NamespaceContentRemaining", "ContentRemoved", "All content successfully removed"},
	{"NamespaceFinalizersRemaining", "ContentHasNoFinalizers", "All content-preserving finalizers finished"},
}

// failureConditions returns conditions with status True for an error of the deletion, for remaining objects and for remaining
// finalizers; nil if there are none of these.
func failureConditions(remaining *remaining, err error) []condition {
	var found []condition
	if err != nil {
		found = append(found, condition{"NamespaceDeletionContentFailure", "ContentDeletionFailed",
			fmt.Sprintf("Failed to delete all resource types, 1 remaining: %v", err)})
	}
	if len(remaining.kinds) > 0 {
		found = append(found, condition{"NamespaceContentRemaining", "SomeResourcesRemain",
			"Some resources are remaining: " + countText(remaining.kinds, "has %d resource instances")})
	}
	if len(remaining.finalizers) > 0 {
		found = append(found, condition{"NamespaceFinalizersRemaining", "SomeFinalizersRemain",
			"Some content in the namespace has finalizers remaining: " + countText(remaining.finalizers, "in %d resource instances")})
	}
	return found
}

// countText returns the sorted keys of counts, each formatted with its count and separated by commas.
func countText(counts map[string]int, format string) string {
	var parts []string
	for name, count := range counts {
		parts = append(parts, name+" "+fmt.Sprintf(format, count))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// writeConditions writes the conditions of a terminating namespace into its status: its remaining content and the error
// of the deletion, which may be nil. Nothing is written if the conditions have not changed.
func (r *Controller) writeConditions(ctx context.Context, namespace document.Value, left *remaining, failure error) error {
	failures := failureConditions(left, failure)
	conditions := namespace.Lookup("status", "conditions")
	for _, c := range successConditions {
		status := "False"
		if i := slices.IndexFunc(failures, func(u condition) bool { return u.name == c.name }); i >= 0 {
			c, status = failures[i], "True"
		}
		conditions = r.withCondition(conditions, c, status)
	}
	namespace = namespace.With("status", namespace.Get("status").With("conditions", conditions))
	_, err := r.Objects.Update(ctx, r.request(namespace.Lookup("metadata", "name").Text(), r.namespaces("status"), namespace))
	return err
}

// withCondition returns the list of conditions in which the condition c is replaced or added. Its lastTransitionTime changes only
// if its status changes.
func (r *Controller) withCondition(all document.Value, c condition, status string) document.Value {
	next := document.NewMap(
		document.Field{Name: "lastTransitionTime", Value: document.NewString(r.Objects.Now().UTC().Format(time.RFC3339))},
		document.Field{Name: "message", Value: document.NewString(c.message)},
		document.Field{Name: "reason", Value: document.NewString(c.reason)},
		document.Field{Name: "status", Value: document.NewString(status)},
		document.Field{Name: "type", Value: document.NewString(c.name)},
	)
	var items []document.Value
	found := false
	for _, item := range all.Items() {
		if item.Get("type").Text() == c.name {
			found = true
			if item.Get("status").Text() == status {
				next = next.With("lastTransitionTime", item.Get("lastTransitionTime"))
			}
			item = next
		}
		items = append(items, item)
	}
	if !found {
		items = append(items, next)
	}
	return document.NewList(items...)
}
