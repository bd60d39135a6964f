package apply

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/cadastre/cadastre/fieldset"
)

// Operation is the operation of a managedFields entry, Apply or Update.
type Operation string

// Operations of managedFields entries.
const (
	// Apply is the operation of entries that Server-Side Apply writes.
	Apply Operation = "Apply"
	// Update is the operation of entries that all other writes create: create, update and patch requests.
	Update Operation = "Update"
)

// Entry is a managedFields entry.
type Entry struct {
	Manager     string
	Operation   Operation
	APIVersion  string
	Subresource string
	// Time is the time of the manager's last change, zero if it is unknown.
	Time time.Time
	// FieldsV1 is the encoded field set of the manager; [Entry.Fields] decodes it.
	FieldsV1 string
}

// Fields decodes the field set of the entry.
func (e Entry) Fields() (fieldset.Set, error) { return fieldset.ParseFieldsV1(e.FieldsV1) }

// sameManager reports whether e and other have the same identity. An object contains at most one entry per identity.
// An applier has one entry per subresource, independent of the version; a manager with operation Update has one entry
// per subresource and version.
func (e Entry) sameManager(other Entry) bool {
	return e.Manager == other.Manager && e.Operation == other.Operation && e.Subresource == other.Subresource &&
		(e.Operation == Apply || e.APIVersion == other.APIVersion)
}

// identity returns a map key for the entry. Two entries have equal keys if and only if sameManager is true for them.
func (e Entry) identity() [4]string {
	version := e.APIVersion
	if e.Operation == Apply {
		version = ""
	}
	return [4]string{e.Manager, string(e.Operation), e.Subresource, version}
}

// compareEntries orders entries as Kubernetes does: by operation, time, manager, version and subresource.
func compareEntries(a, b Entry) int {
	return cmp.Or(
		strings.Compare(string(a.Operation), string(b.Operation)),
		cmp.Compare(unixSeconds(a.Time), unixSeconds(b.Time)),
		strings.Compare(a.Manager, b.Manager),
		strings.Compare(a.APIVersion, b.APIVersion),
		strings.Compare(a.Subresource, b.Subresource),
	)
}

// unixSeconds returns t in Unix seconds, 0 for the zero time.
func unixSeconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

// SortEntries sorts entries as Kubernetes does: by operation, time, manager, version and subresource. The entries of a
// [Result] are sorted if the entries of the live object were sorted, or if any entry changed.
func SortEntries(entries []Entry) {
	if !slices.IsSortedFunc(entries, compareEntries) {
		slices.SortStableFunc(entries, compareEntries)
	}
}

// UntrackedFields returns the fields that managedFields never records, as in Kubernetes: the identity of the object,
// and the metadata that the server maintains.
func UntrackedFields() fieldset.Set { return untrackedFields }

var untrackedFields = fieldset.New(
	// These fields identify the object.
	fieldset.Names("apiVersion"),
	fieldset.Names("kind"),
	fieldset.Names("metadata", "clusterName"),
	fieldset.Names("metadata", "name"),
	fieldset.Names("metadata", "namespace"),
	fieldset.Names("metadata", "selfLink"),
	fieldset.Names("metadata", "uid"),
	// The server maintains this metadata.
	fieldset.Names("metadata", "creationTimestamp"),
	fieldset.Names("metadata", "generation"),
	fieldset.Names("metadata", "managedFields"),
	fieldset.Names("metadata", "resourceVersion"),
	// Every object contains the map metadata itself.
	fieldset.Names("metadata"),
)
