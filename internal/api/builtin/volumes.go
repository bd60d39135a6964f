package builtin

import (
	"fmt"
	slashes "path"
	"slices"

	"github.com/cadastre/cadastre/document"
)

// checkClaimOfPod requires that PODNAME-VOLUMENAME, the name of the PersistentVolumeClaim that is generated for an ephemeral
// volume, is valid.
func checkClaimOfPod(c *checker, value, _ document.Value) {
	pod := c.scopes[0].value.Lookup("metadata", "name").Text()
	if pod == "" || value.Text() == "" {
		return
	}
	claim := pod + "-" + value.Text()
	for _, problem := range formats["dns-subdomain"].check(claim) {
		c.invalid(value.Text(), fmt.Sprintf("PVC name %q: %v", claim, problem))
	}
}

func checkDownwardFile(c *checker, file, _ document.Value) {
	field, amount := file.Get("fieldRef"), file.Get("resourceFieldRef")
	// Like kube-apiserver, report errors of downward API items at the path of the volume source.
	where := c.path
	c.path = c.path[: len(c.path)-2 : len(c.path)-2]
	switch {
	case !isAbsentOrNull(field):
		c.push("fieldRef")
		c.checkFieldReference(field, fieldsForFiles)
		c.pop()
		if !isAbsentOrNull(amount) {
			c.invalid("resource", "fieldRef and resourceFieldRef can not be specified simultaneously")
		}
	case !isAbsentOrNull(amount):
		c.push("resourceFieldRef")
		c.checkResourceReference(amount, true)
		c.pop()
	default:
		c.required("one of fieldRef and resourceFieldRef is required")
	}
	c.path = where
}

func checkFibreChannel(c *checker, fc, _ document.Value) {
	targets, ids, lun := fc.Get("targetWWNs"), fc.Get("wwids"), fc.Get("lun")
	if targets.Len()+ids.Len() == 0 {
		c.required("must specify either targetWWNs or wwids, but not both", "targetWWNs")
	}
	if targets.Len() > 0 && ids.Len() > 0 {
		c.invalid(errorValue(targets), "targetWWNs and wwids can not be specified simultaneously", "targetWWNs")
	}
	if targets.Len() == 0 {
		return
	}
	if isAbsentOrNull(lun) {
		c.required("lun is required if targetWWNs is specified", "lun")
	} else if n := intValue(lun); n < 0 || n > 255 {
		c.invalid(n, "must be between 0 and 255, inclusive", "lun")
	}
}

func checkSingleProjection(c *checker, source, _ document.Value) {
	if countPresent(source, "secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle", "podCertificate") > 1 {
		c.forbidden("may not specify more than 1 volume type per source")
	}
}

func checkSingleAccessMode(c *checker, modes, _ document.Value) {
	list := stringItems(modes)
	if len(list) < 2 || !slices.Contains(list, "ReadWriteOncePod") {
		return
	}
	if slices.ContainsFunc(list, func(m string) bool { return m == "ReadWriteOnce" || m == "ReadOnlyMany" || m == "ReadWriteMany" }) {
		c.forbidden("may not use ReadWriteOncePod with other access modes")
	}
}

func checkClaimStorage(c *checker, spec, _ document.Value) {
	c.push("resources")
	c.pushKey("storage")
	v := spec.Lookup("resources", "requests", "storage")
	if isAbsentOrNull(v) {
		c.required("")
	} else if q := quantityValue(v); q.Sign() <= 0 {
		c.invalid(q.String(), "must be greater than zero")
	}
	c.pop()
	c.pop()
}

func checkDataSourceKind(c *checker, source, _ document.Value) {
	if kind := source.Get("kind").Text(); source.Get("apiGroup").Text() == "" && kind != "PersistentVolumeClaim" {
		c.invalid(kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup")
	}
}

func checkVolumeCapacity(c *checker, spec, _ document.Value) {
	capacity := spec.Get("capacity")
	if isAbsentOrNull(capacity.Get("storage")) || capacity.Len() > 1 {
		c.unsupported(errorMap(capacity), []string{"storage"}, "capacity")
	}
	c.push("capacity")
	for name, v := range capacity.Fields() {
		q := quantityValue(v)
		c.pushKey(name)
		if q.Value() < 0 {
			c.invalid(q.Value(), "must be a valid resource quantity")
		}
		if q.Sign() <= 0 {
			c.invalid(q.String(), "must be greater than zero")
		}
		c.pop()
	}
	c.pop()
}

// checkNotRecycledRoot rejects a PersistentVolume with the reclaim policy Recycle whose hostPath is the root directory.
func checkNotRecycledRoot(c *checker, spec, _ document.Value) {
	host := spec.Get("hostPath")
	if !isAbsentOrNull(host) && slashes.Clean(host.Get("path").Text()) == "/" && spec.Get("persistentVolumeReclaimPolicy").Text() == "Recycle" {
		c.forbidden("may not be 'recycle' for a hostPath mount of '/'", "persistentVolumeReclaimPolicy")
	}
}

// checkClaimUpdate rejects updates of a PersistentVolumeClaim's spec, except of volumeName and storageClassName, which may be
// set once, and, if the claim is bound, of the storage request and volumeAttributesClassName.
func checkClaimUpdate(c *checker, claim, oldClaim document.Value) {
	spec, old := fillDataSources(claim.Get("spec")), fillDataSources(oldClaim.Get("spec"))
	except := []string{"resources"}
	if old.Get("volumeName").Text() == "" {
		except = append(except, "volumeName")
	}
	if c.classUpgrade(claim, oldClaim) {
		except = append(except, "storageClassName")
	}
	isBound := claim.Lookup("status", "phase").Text() == "Bound"
	if isBound {
		except = append(except, "volumeAttributesClassName")
	}
	c.push("spec")
	t := c.currentType()
	frozen := !equalExcept(t, spec, old, except)
	resources, _ := fieldType(t, "resources")
	current, oldValue := spec.Get("resources"), old.Get("resources")
	if isBound && current.Get("requests").Kind() == document.Map {
		current, oldValue = removeStorage(current), removeStorage(oldValue)
	}
	if frozen || !semanticEqual(resources, false, current, oldValue) {
		c.forbidden("spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims")
	}
	c.shrunkenClaim(spec, old, oldClaim.Get("status"))
	c.pop()
	mode, pointer := fieldType(t, "volumeMode")
	if value := spec.Get("volumeMode"); !semanticEqual(mode, pointer, value, old.Get("volumeMode")) {
		c.invalid(errorValue(value), "field is immutable", "volumeMode")
	}
	class := spec.Get("volumeAttributesClassName")
	if isAbsentOrNull(oldClaim.Lookup("status", "currentVolumeAttributesClassName")) || class.Text() != "" {
		return
	}
	if oldValue := old.Get("volumeAttributesClassName"); isAbsentOrNull(class) && !isAbsentOrNull(oldValue) {
		c.forbidden("update to nil is forbidden when status.currentVolumeAttributesClassName is not nil", "spec", "volumeAttributesClassName")
	} else if !isAbsentOrNull(class) && (isAbsentOrNull(oldValue) || oldValue.Text() != "") {
		c.forbidden("update to empty string is forbidden when status.currentVolumeAttributesClassName is not nil", "spec", "volumeAttributesClassName")
	}
}

// betaStorageClass is the legacy annotation of a PersistentVolumeClaim that names its StorageClass.
const betaStorageClass = "volume.beta.kubernetes.io/storage-class"

// classUpgrade reports whether an update sets the absent storageClassName of a PersistentVolumeClaim, which is allowed once.
// It rejects changes of the legacy annotation.
func (c *checker) classUpgrade(claim, oldClaim document.Value) bool {
	annotation, old := claim.Lookup("metadata", "annotations", betaStorageClass), oldClaim.Lookup("metadata", "annotations", betaStorageClass)
	class := claim.Lookup("spec", "storageClassName")
	wasUnset := isAbsentOrNull(oldClaim.Lookup("spec", "storageClassName")) && !isAbsentOrNull(class)
	if wasUnset && !isAbsentOrNull(old) && class.Text() == old.Text() && (isAbsentOrNull(annotation) || annotation.Text() == old.Text()) {
		return true
	}
	if annotation.Text() != old.Text() {
		c.invalid(annotation.Text(), "field is immutable", "metadata", "annotations", betaStorageClass)
	}
	return wasUnset && (isAbsentOrNull(old) || class.Text() == old.Text())
}

// fillDataSources returns the spec of a PersistentVolumeClaim in which dataSource is copied to dataSourceRef, or the reverse,
// if only one of them is set, as in kube-apiserver.
func fillDataSources(spec document.Value) document.Value {
	source, ref := spec.Get("dataSource"), spec.Get("dataSourceRef")
	switch {
	case isAbsentOrNull(source) && !isAbsentOrNull(ref) && ref.Get("namespace").Text() == "":
		return spec.With("dataSource", ref.Without("namespace"))
	case !isAbsentOrNull(source) && isAbsentOrNull(ref):
		return spec.With("dataSourceRef", source)
	}
	return spec
}

// checkDataSources requires that dataSource and dataSourceRef of a PersistentVolumeClaim are equal if both are set.
func checkDataSources(c *checker, spec, _ document.Value) {
	source, ref := spec.Get("dataSource"), spec.Get("dataSourceRef")
	if isAbsentOrNull(source) || isAbsentOrNull(ref) {
		return
	}
	if ref.Get("namespace").Text() != "" {
		c.invalid("", "may not be specified when dataSourceRef.namespace is specified")
		return
	}
	for _, name := range []string{"apiGroup", "kind", "name"} {
		if a, b := source.Get(name), ref.Get(name); a.Text() != b.Text() || name == "apiGroup" && isAbsentOrNull(a) != isAbsentOrNull(b) {
			c.invalid("", "must match dataSourceRef")
			return
		}
	}
}

func removeStorage(resources document.Value) document.Value {
	requests := resources.Get("requests")
	if requests.Kind() != document.Map {
		return resources
	}
	return resources.With("requests", requests.Without("storage"))
}

// shrunkenClaim rejects an update that decreases the storage request of a PersistentVolumeClaim to its current capacity or
// less.
func (c *checker) shrunkenClaim(spec, old, status document.Value) {
	value, oldValue := quantityValue(spec.Lookup("resources", "requests", "storage")), quantityValue(old.Lookup("resources", "requests", "storage"))
	if got := quantityValue(status.Lookup("capacity", "storage")); value.Cmp(oldValue) < 0 && value.Cmp(got) <= 0 {
		c.forbidden("field can not be less than status.capacity", "resources", "requests", "storage")
	}
}

// volumeSources are the fields of a PersistentVolume's spec that are volume sources.
var volumeSources = []string{
	"hostPath", "gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "flocker", "nfs", "rbd", "quobyte", "cephfs",
	"iscsi", "cinder", "fc", "flexVolume", "azureFile", "vsphereVolume", "photonPersistentDisk", "portworxVolume",
	"azureDisk", "scaleIO", "local", "storageos", "csi",
}

func checkVolumeUpdate(c *checker, volume, oldVolume document.Value) {
	spec, old := volume.Get("spec"), oldVolume.Get("spec")
	c.push("spec")
	t := c.currentType()
	defer c.pop()
	for _, name := range volumeSources {
		value, oldValue := spec.Get(name), old.Get(name)
		if name == "csi" && !isAbsentOrNull(oldValue) && isAbsentOrNull(oldValue.Get("controllerExpandSecretRef")) {
			value = value.Without("controllerExpandSecretRef") // an update may add controllerExpandSecretRef
		}
		if ft, fp := fieldType(t, name); !semanticEqual(ft, fp, value, oldValue) {
			c.forbidden("spec.persistentvolumesource is immutable after creation", "persistentvolumesource")
			return
		}
	}
}

// generalLabels maps beta node labels to the GA labels that replace them.
var generalLabels = map[string]string{
	"failure-domain.beta.kubernetes.io/zone":   "topology.kubernetes.io/zone",
	"failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
	"beta.kubernetes.io/os":                    "kubernetes.io/os",
	"beta.kubernetes.io/arch":                  "kubernetes.io/arch",
	"beta.kubernetes.io/instance-type":         "node.kubernetes.io/instance-type",
}

// checkNodeAffinityFrozen rejects changes of a PersistentVolume's node affinity, except the replacement of beta node labels by
// GA labels.
func checkNodeAffinityFrozen(c *checker, value, _ document.Value) {
	old := c.scopes[0].old.Lookup("spec", "nodeAffinity")
	if c.isUnchanged(value) || equalTerms(value.Lookup("required", "nodeSelectorTerms"), old.Lookup("required", "nodeSelectorTerms")) {
		return
	}
	c.invalid(errorValue(value), "field is immutable, except for updating from beta label to GA")
}

func equalTerms(value, old document.Value) bool {
	if value.Len() != old.Len() || value.Len() == 0 {
		return false
	}
	for i := range value.Len() {
		current, oldValue := value.At(i), old.At(i)
		if !equalRequirements(current.Get("matchFields"), oldValue.Get("matchFields")) || !equalRequirements(current.Get("matchExpressions"), oldValue.Get("matchExpressions")) {
			return false
		}
	}
	return true
}

func equalRequirements(value, old document.Value) bool {
	if value.Len() != old.Len() {
		return false
	}
	for i := range value.Len() {
		current, oldValue := value.At(i), old.At(i)
		key := oldValue.Get("key").Text()
		if current.Get("key").Text() != key && current.Get("key").Text() != generalLabels[key] {
			return false
		}
		if !semanticEqual(nil, false, current.Without("key"), oldValue.Without("key")) {
			return false
		}
	}
	return true
}
