package namespace

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cadastre/cadastre/document"
)

// condition is something that clients are told about a namespace that goes. What is said when all is
// well is in the words of Kubernetes.
type condition struct{ name, reason, message string }

var wellConditions = []condition{
	{"NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered"},
	{"NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions", "All legacy kube types successfully parsed"},
	{"NamespaceDeletionContentFailure", "ContentDeleted", "All content successfully deleted, may be waiting on finalization"},
	{"NamespaceContentRemaining", "ContentRemoved", "All content successfully removed"},
	{"NamespaceFinalizersRemaining", "ContentHasNoFinalizers", "All content-preserving finalizers finished"},
}

// unwellConditions are those of the above that don't hold, since something is left or could not be
// deleted.
func unwellConditions(left *remains, err error) []condition {
	var found []condition
	if err != nil {
		found = append(found, condition{"NamespaceDeletionContentFailure", "ContentDeletionFailed",
			fmt.Sprintf("Failed to delete all resource types, 1 remaining: %v", err)})
	}
	if len(left.kinds) > 0 {
		found = append(found, condition{"NamespaceContentRemaining", "SomeResourcesRemain",
			"Some resources are remaining: " + countText(left.kinds, "has %d resource instances")})
	}
	if len(left.finalizers) > 0 {
		found = append(found, condition{"NamespaceFinalizersRemaining", "SomeFinalizersRemain",
			"Some content in the namespace has finalizers remaining: " + countText(left.finalizers, "in %d resource instances")})
	}
	return found
}

func countText(counts map[string]int, format string) string {
	var parts []string
	for name, count := range counts {
		parts = append(parts, name+" "+fmt.Sprintf(format, count))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// tell writes into a namespace what is left in it. What it says already is not written again.
func (r *Remover) tell(ctx context.Context, namespace document.Value, left *remains, failure error) error {
	unwell := unwellConditions(left, failure)
	conditions := namespace.Lookup("status", "conditions")
	for _, c := range wellConditions {
		status := "False"
		if i := slices.IndexFunc(unwell, func(u condition) bool { return u.name == c.name }); i >= 0 {
			c, status = unwell[i], "True"
		}
		conditions = r.withCondition(conditions, c, status)
	}
	namespace = namespace.With("status", namespace.Get("status").With("conditions", conditions))
	_, err := r.Objects.Update(ctx, r.request(namespace.Lookup("metadata", "name").Text(), r.namespaces("status"), namespace))
	return err
}

// withCondition puts a condition in the place of the one of that name. Its time is that of the last
// change of its status.
func (r *Remover) withCondition(all document.Value, c condition, status string) document.Value {
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
