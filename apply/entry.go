package apply

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/cadastre/cadastre/fieldset"
)

// Operation is how a manager writes.
type Operation string

// The operations.
const (
	// Apply is the operation of appliers.
	Apply Operation = "Apply"
	// Update is the operation of everybody else.
	Update Operation = "Update"
)

// Entry records what one manager owns: an item of managedFields.
type Entry struct {
	Manager     string
	Operation   Operation
	APIVersion  string
	Subresource string
	// Time is when the manager last changed something; zero if it is not known.
	Time time.Time
	// FieldsV1 is the set of fields that the manager owns, as it is written.
	FieldsV1 string
}

// Fields returns the set of fields that the manager owns.
func (e Entry) Fields() (fieldset.Set, error) { return fieldset.ParseFieldsV1(e.FieldsV1) }

// sameManager reports whether two entries are of one manager: an applier has one
// entry for a subresource, whatever version it last applied; everybody else has
// one for each version as well.
func (e Entry) sameManager(other Entry) bool {
	return e.Manager == other.Manager && e.Operation == other.Operation && e.Subresource == other.Subresource &&
		(e.Operation == Apply || e.APIVersion == other.APIVersion)
}

// identity is what entries of one manager have in common.
func (e Entry) identity() [4]string {
	version := e.APIVersion
	if e.Operation == Apply {
		version = ""
	}
	return [4]string{e.Manager, string(e.Operation), e.Subresource, version}
}

// compareEntries orders entries as Kubernetes does: by operation, time, manager,
// version and subresource.
func compareEntries(a, b Entry) int {
	return cmp.Or(
		strings.Compare(string(a.Operation), string(b.Operation)),
		cmp.Compare(seconds(a.Time), seconds(b.Time)),
		strings.Compare(a.Manager, b.Manager),
		strings.Compare(a.APIVersion, b.APIVersion),
		strings.Compare(a.Subresource, b.Subresource),
	)
}

func seconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

// SortEntries puts entries in the order in which Kubernetes writes them. Those of a [Result] are in it if
// those that were read are, or some changed.
func SortEntries(entries []Entry) {
	if !slices.IsSortedFunc(entries, compareEntries) {
		slices.SortStableFunc(entries, compareEntries)
	}
}

// NeverOwned returns the fields that nobody may own, whoever sets them.
func NeverOwned() fieldset.Set { return neverOwned }

var neverOwned = fieldset.New(
	// They say which object it is.
	fieldset.Names("apiVersion"),
	fieldset.Names("kind"),
	fieldset.Names("metadata", "clusterName"),
	fieldset.Names("metadata", "name"),
	fieldset.Names("metadata", "namespace"),
	fieldset.Names("metadata", "selfLink"),
	fieldset.Names("metadata", "uid"),
	// The server keeps them.
	fieldset.Names("metadata", "creationTimestamp"),
	fieldset.Names("metadata", "generation"),
	fieldset.Names("metadata", "managedFields"),
	fieldset.Names("metadata", "resourceVersion"),
	// It can't be without them.
	fieldset.Names("metadata"),
)
