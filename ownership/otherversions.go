package ownership

import (
	"slices"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/fieldset"
)

// An entry has paths at the version that its manager wrote at. At another version the same field may be at another path,
// and no server tells at which: it converts whole objects, and compares what they have. So only what has the same path is
// the same here, and what has not is told apart from what nobody owns.
//
//	at v2     spec: {maxReplicas: 3, metrics: […]}                        somebody owns both
//	at v1     spec: {maxReplicas: 3, targetCPUUtilizationPercentage: 50}
//	blamed    maxReplicas is theirs, targetCPUUtilizationPercentage is uncertain, metrics is elsewhere

// addMissingVersion notes the version of an entry if it owns something that is only there.
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

// isUncertain reports whether a field that nobody owns may be what somebody owns elsewhere: a version does not have it.
func (b *blamer) isUncertain(path fieldset.Path) bool {
	if path[0].Name() == "metadata" { // which is the same at all versions
		return false
	}
	return slices.ContainsFunc(b.missingVersions, func(version string) bool {
		other, known := b.otherVersions[version]
		return !known || ValueAt(other, path).IsAbsent()
	})
}

// isAtOtherVersion reports whether an owner of what is absent wrote at a version that has it, as far as that is known.
func (b *blamer) isAtOtherVersion(e apply.Entry, path fieldset.Path) bool {
	other, known := b.otherVersions[e.APIVersion]
	return e.APIVersion != b.version && (!known || !ValueAt(other, path).IsAbsent())
}
