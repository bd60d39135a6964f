package registry

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
)

// conflictStatus returns the 409 for apply conflicts with the message of Kubernetes, and with one cause for each field and owning
// managed fields entry. Unlike in Kubernetes each cause also contains the live and the applied value of the field, formatted by
// show, and the time of the entry.
func conflictStatus(e *apply.ConflictError, show func(document.Value) string) error {
	type owned struct {
		rank, manager, path string
		cause               metav1.StatusCause
	}
	var all []owned
	for _, c := range slices.SortedStableFunc(slices.Values(e.Conflicts), shallowFirst) {
		for _, owner := range c.Owners {
			path := c.Path.String()
			all = append(all, owned{ownerSortKey(owner), formatOwner(owner), path, metav1.StatusCause{
				Type:    metav1.CauseTypeFieldManagerConflict,
				Field:   path,
				Message: fmt.Sprintf("conflict with %s%s", formatOwner(owner), conflictDetail(c, owner, show)),
			}})
		}
	}
	slices.SortStableFunc(all, func(a, b owned) int { return strings.Compare(a.rank, b.rank) })
	if len(all) == 1 {
		return apierrors.NewApplyConflict([]metav1.StatusCause{all[0].cause},
			fmt.Sprintf("Apply failed with 1 conflict: conflict with %s: %s", all[0].manager, all[0].path))
	}
	var (
		causes  []metav1.StatusCause
		text    strings.Builder
		manager string
	)
	fmt.Fprintf(&text, "Apply failed with %d conflicts: ", len(all))
	for i, o := range all {
		causes = append(causes, o.cause)
		if i > 0 {
			text.WriteByte('\n')
		}
		if manager != o.manager {
			manager = o.manager
			fmt.Fprintf(&text, "conflicts with %s:\n", manager)
		}
		fmt.Fprintf(&text, "- %s", o.path)
	}
	return apierrors.NewApplyConflict(causes, text.String())
}

// shallowFirst compares conflicts in the order in which Kubernetes lists the conflicts with a field manager: in each map or list,
// first its own fields, then fields inside of nested maps and lists.
func shallowFirst(a, b apply.Conflict) int {
	i := 0
	for i < min(len(a.Path), len(b.Path)) && a.Path[i].Compare(b.Path[i]) == 0 {
		i++
	}
	if isLast, otherIsLast := i >= len(a.Path)-1, i >= len(b.Path)-1; isLast != otherIsLast {
		if isLast {
			return -1
		}
		return 1
	}
	return a.Path.Compare(b.Path)
}

// ownerSortKey returns the key by which Kubernetes sorts the owners of conflicting fields: the JSON of the managed fields entry
// without its time and fields and, for Apply entries, without its apiVersion.
func ownerSortKey(e apply.Entry) string {
	entry := metav1.ManagedFieldsEntry{Manager: e.Manager, Operation: metav1.ManagedFieldsOperationType(e.Operation), Subresource: e.Subresource}
	if e.Operation == apply.Update {
		entry.APIVersion = e.APIVersion
	}
	text, err := json.Marshal(entry)
	if err != nil {
		return e.Manager // strings can always be encoded
	}
	return string(text)
}

// formatOwner returns the description of a managed fields entry in Kubernetes' conflict messages, such as
// "kubectl" using apps/v1.
func formatOwner(e apply.Entry) string {
	text := fmt.Sprintf("%q", e.Manager)
	if e.Subresource != "" {
		text += fmt.Sprintf(" with subresource %q", e.Subresource)
	}
	if e.Operation != apply.Update {
		return text
	}
	return text + " using " + e.APIVersion
}

// conflictDetail returns the part of a conflict message that Kubernetes does not have: the live and the applied value of the
// field, and the time of the managed fields entry.
func conflictDetail(c apply.Conflict, owner apply.Entry, show func(document.Value) string) string {
	text := fmt.Sprintf(": the field is %s, and would become %s", show(c.Live), show(c.Wanted))
	if !owner.Time.IsZero() {
		text += ", its owner has written it since " + owner.Time.UTC().Format(time.RFC3339)
	}
	return text
}

// maxValueLength is the maximum length, in bytes, of a value in an error message. Longer values are truncated.
const maxValueLength = 100

// valueFormatter returns the function that formats values in error messages. Because error messages are logged and printed to
// terminals, values of Secrets are replaced with a description of their type.
func (e *Endpoint) valueFormatter() func(document.Value) string {
	if e.isSecret() {
		return formatRedacted
	}
	return formatValue
}

func (e *Endpoint) isSecret() bool { return e.Kind.Group == "" && e.Kind.Name == "Secret" }

func formatRedacted(v document.Value) string {
	if v.IsAbsent() {
		return "absent"
	}
	return "a " + v.Kind().String() + " that is not shown"
}

func formatValue(v document.Value) string {
	if v.IsAbsent() {
		return "absent"
	}
	text := v.JSON()
	if len(text) <= maxValueLength {
		return text
	}
	return strings.ToValidUTF8(text[:maxValueLength], "") + "…"
}
