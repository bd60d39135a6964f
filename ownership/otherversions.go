package ownership

import (
	"slices"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/fieldset"
)

// An entry has the paths of the version at which its manager wrote. At another version a field may have another path,
// and the API does not expose the correspondence: servers convert and compare whole objects. Therefore fields
// correspond only if their paths are equal, and fields that may correspond to another path are Uncertain instead of
// Unowned.
//
//	at v2      spec: {maxReplicas: 3, metrics: […]}                        an entry at v2 owns both fields
//	at v1      spec: {maxReplicas: 3, targetCPUUtilizationPercentage: 50}
//	Blame(v1)  maxReplicas: Owned, targetCPUUtilizationPercentage: Uncertain, metrics: OtherVersion

// addMissingVersion adds the version of the i-th entry to missingVersions if the entry owns a field that exists only
// at that version.
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

// isUncertain reports whether an unowned field may correspond to an owned field of another version: one of
// missingVersions does not have the field, or is not in others.
func (b *blamer) isUncertain(path fieldset.Path) bool {
	if path[0].Name() == "metadata" { // metadata is equal at all versions
		return false
	}
	return slices.ContainsFunc(b.missingVersions, func(version string) bool {
		other, known := b.otherVersions[version]
		return !known || ValueAt(other, path).IsAbsent()
	})
}

// isAtOtherVersion reports whether an absent field of an entry has a value at the version of the entry, or may have
// one because the object at that version was not passed.
func (b *blamer) isAtOtherVersion(e apply.Entry, path fieldset.Path) bool {
	other, known := b.otherVersions[e.APIVersion]
	return e.APIVersion != b.version && (!known || !ValueAt(other, path).IsAbsent())
}
