package ownership

import (
	"slices"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/fieldset"
)

// A managed fields entry contains paths of the API version at which its manager wrote. At another version the same field may
// have another path, and the API does not expose which paths correspond, because servers convert and compare whole objects.
// Therefore Blame assumes that fields of two versions correspond only if their paths are equal, and unowned fields that may
// correspond to an owned field with another path are Uncertain instead of Unowned.
//
//	at v2      spec: {maxReplicas: 3, metrics: […]}                        an entry at v2 owns both fields
//	at v1      spec: {maxReplicas: 3, targetCPUUtilizationPercentage: 50}
//	Blame(v1)  maxReplicas: Owned, targetCPUUtilizationPercentage: Uncertain, metrics: OtherVersion

// addMissingVersion adds the API version of the i-th entry to missingVersions if the entry, whose field set is set, owns a
// field that exists only at that version.
func (b *blamer) addMissingVersion(o apply.Object, i int, set fieldset.Set) {
	version := b.entries[i].APIVersion
	if version == b.version || slices.Contains(b.missingVersions, version) {
		return
	}
	missing := set.Difference(existingFields(o.Document, set))
	if other, known := b.otherVersions[version]; known {
		missing = existingFields(other, missing)
	}
	if !missing.IsEmpty() {
		b.missingVersions = append(b.missingVersions, version)
	}
}

// isUncertain reports whether an unowned field may correspond to an owned field at another API version. This is the case if
// the object at one of missingVersions does not have the field, or was not passed to Blame.
func (b *blamer) isUncertain(path fieldset.Path) bool {
	if path[0].Name() == "metadata" { // the fields of metadata have the same paths at all versions
		return false
	}
	return slices.ContainsFunc(b.missingVersions, func(version string) bool {
		other, known := b.otherVersions[version]
		return !known || ValueAt(other, path).IsAbsent()
	})
}

// isAtOtherVersion reports whether a field that an entry owns and the object does not have exists at the API version of the
// entry, or may exist there because the object at that version was not passed to Blame.
func (b *blamer) isAtOtherVersion(e apply.Entry, path fieldset.Path) bool {
	other, known := b.otherVersions[e.APIVersion]
	return e.APIVersion != b.version && (!known || !ValueAt(other, path).IsAbsent())
}
