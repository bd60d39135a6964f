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

// conflictStatus returns the 409 for conflicts in the form of Kubernetes, with a cause for each field and owner. Each cause also has
// the live and the applied value of the field, and the time of the owner's last write.
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

// shallowFirst is the order in which Kubernetes lists the conflicts of an owner: in each map or list, first the fields that
// conflict themselves, then those inside of nested maps and lists.
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

// ownerSortKey returns the sort key of an owner, as in Kubernetes: the JSON of the identity of its entry, without its time and, for
// Apply entries, without its version.
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

// formatOwner names an owner as Kubernetes does.
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

// conflictDetail returns the values of the field and the time of the owner's last write, which Kubernetes does not report.
func conflictDetail(c apply.Conflict, owner apply.Entry, show func(document.Value) string) string {
	text := fmt.Sprintf(": the field is %s, and would become %s", show(c.Live), show(c.Wanted))
	if !owner.Time.IsZero() {
		text += ", its owner has written it since " + owner.Time.UTC().Format(time.RFC3339)
	}
	return text
}

// maxValueLength is the maximum length of a value in an error.
const maxValueLength = 100

// valueFormatter returns the function that formats values of the resource in errors. Errors end up in logs and terminals, so it hides the
// values of Secrets.
func (e *Endpoint) valueFormatter() func(document.Value) string {
	if e.isSecret() {
		return formatHidden
	}
	return formatValue
}

func (e *Endpoint) isSecret() bool { return e.Kind.Group == "" && e.Kind.Name == "Secret" }

func formatHidden(v document.Value) string {
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
