package rules

import (
	"slices"

	"github.com/cadastre/cadastre/document"
)

func downwardFile(c *checker, file, _ document.Value) {
	field, amount := file.Get("fieldRef"), file.Get("resourceFieldRef")
	// Items of such volumes are all reported for the volume.
	where := c.where
	c.where = c.where[: len(c.where)-2 : len(c.where)-2]
	switch {
	case !isNothing(field):
		c.push("fieldRef")
		c.fieldReference(field, fieldsForFiles)
		c.pop()
		if !isNothing(amount) {
			c.invalid("resource", "fieldRef and resourceFieldRef can not be specified simultaneously")
		}
	case !isNothing(amount):
		c.push("resourceFieldRef")
		c.resourceReference(amount, true)
		c.pop()
	default:
		c.required("one of fieldRef and resourceFieldRef is required")
	}
	c.where = where
}

func fibreChannel(c *checker, fc, _ document.Value) {
	targets, ids, lun := fc.Get("targetWWNs"), fc.Get("wwids"), fc.Get("lun")
	if targets.Len()+ids.Len() == 0 {
		c.required("must specify either targetWWNs or wwids, but not both", "targetWWNs")
	}
	if targets.Len() > 0 && ids.Len() > 0 {
		c.invalid(shown(targets), "targetWWNs and wwids can not be specified simultaneously", "targetWWNs")
	}
	if targets.Len() == 0 {
		return
	}
	if isNothing(lun) {
		c.required("lun is required if targetWWNs is specified", "lun")
	} else if n := number(lun); n < 0 || n > 255 {
		c.invalid(n, "must be between 0 and 255, inclusive", "lun")
	}
}

func singleProjection(c *checker, source, _ document.Value) {
	if present(source, "secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle", "podCertificate") > 1 {
		c.forbidden("may not specify more than 1 volume type per source")
	}
}

func singleAccessMode(c *checker, modes, _ document.Value) {
	list := texts(modes)
	if len(list) < 2 || !slices.Contains(list, "ReadWriteOncePod") {
		return
	}
	if slices.ContainsFunc(list, func(m string) bool { return m == "ReadWriteOnce" || m == "ReadOnlyMany" || m == "ReadWriteMany" }) {
		c.forbidden("may not use ReadWriteOncePod with other access modes")
	}
}

func claimStorage(c *checker, spec, _ document.Value) {
	c.push("resources")
	c.pushKey("storage")
	v := spec.Lookup("resources", "requests", "storage")
	if isNothing(v) {
		c.required("")
	} else if q := amount(v); q.Sign() <= 0 {
		c.invalid(q.String(), "must be greater than zero")
	}
	c.pop()
	c.pop()
}

func dataSourceKind(c *checker, source, _ document.Value) {
	if kind := source.Get("kind").Text(); source.Get("apiGroup").Text() == "" && kind != "PersistentVolumeClaim" {
		c.invalid(kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup")
	}
}

func volumeCapacity(c *checker, spec, _ document.Value) {
	capacity := spec.Get("capacity")
	if isNothing(capacity.Get("storage")) || capacity.Len() > 1 {
		c.unsupported(shownMap(capacity), []string{"storage"}, "capacity")
	}
	c.push("capacity")
	for name, v := range capacity.Fields() {
		q := amount(v)
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

// claimUpdate refuses changes of a claim, save that it may be bound, and grow when it is.
func claimUpdate(c *checker, claim, oldClaim document.Value) {
	spec, old := claim.Get("spec"), oldClaim.Get("spec")
	except := []string{"resources"}
	if old.Get("volumeName").Text() == "" {
		except = append(except, "volumeName")
	}
	if isNothing(old.Get("storageClassName")) {
		except = append(except, "storageClassName") // it may be set once
	}
	isBound := claim.Lookup("status", "phase").Text() == "Bound"
	if isBound {
		except = append(except, "volumeAttributesClassName")
	}
	c.push("spec")
	t := c.typeHere()
	frozen := !sameExcept(t, spec, old, except)
	resources, _ := below(t, "resources")
	is, was := spec.Get("resources"), old.Get("resources")
	if isBound {
		is, was = withoutStorage(is), withoutStorage(was)
	}
	if frozen || !same(resources, false, is, was) {
		c.forbidden("spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims")
	}
	c.shrunkenClaim(spec, old, oldClaim.Get("status"))
	c.pop()
	mode, pointer := below(t, "volumeMode")
	if now := spec.Get("volumeMode"); !same(mode, pointer, now, old.Get("volumeMode")) {
		c.invalid(shown(now), "field is immutable", "volumeMode")
	}
}

func withoutStorage(resources document.Value) document.Value {
	requests := resources.Get("requests")
	if requests.Kind() != document.Map {
		return resources
	}
	return resources.With("requests", requests.Without("storage"))
}

// shrunkenClaim allows a claim to shrink to more than it has already got.
func (c *checker) shrunkenClaim(spec, old, status document.Value) {
	now, was := amount(spec.Lookup("resources", "requests", "storage")), amount(old.Lookup("resources", "requests", "storage"))
	if got := amount(status.Lookup("capacity", "storage")); now.Cmp(was) < 0 && now.Cmp(got) <= 0 {
		c.forbidden("field can not be less than status.capacity", "resources", "requests", "storage")
	}
}

// volumeSources are the fields of a volume's spec that say where it is.
var volumeSources = []string{
	"hostPath", "gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "flocker", "nfs", "rbd", "quobyte", "cephfs",
	"iscsi", "cinder", "fc", "flexVolume", "azureFile", "vsphereVolume", "photonPersistentDisk", "portworxVolume",
	"azureDisk", "scaleIO", "local", "storageos", "csi",
}

func volumeUpdate(c *checker, volume, oldVolume document.Value) {
	spec, old := volume.Get("spec"), oldVolume.Get("spec")
	c.push("spec")
	t := c.typeHere()
	defer c.pop()
	for _, name := range volumeSources {
		now, was := spec.Get(name), old.Get(name)
		if name == "csi" && !isNothing(was) && isNothing(was.Get("controllerExpandSecretRef")) {
			now = now.Without("controllerExpandSecretRef") // it may be added
		}
		if ft, fp := below(t, name); !same(ft, fp, now, was) {
			c.forbidden("spec.persistentvolumesource is immutable after creation", "persistentvolumesource")
			return
		}
	}
}

// nodeAffinityFrozen refuses another place for a volume than it has. Renamed labels are the same
// to kube-apiserver; whoever renames one here gets away with it too.
func nodeAffinityFrozen(c *checker, now, _ document.Value) {
	old := c.scopes[0].old.Lookup("spec", "nodeAffinity")
	was, is := old.Lookup("required", "nodeSelectorTerms"), now.Lookup("required", "nodeSelectorTerms")
	if len(c.errs) > 0 || c.isAsBefore(now) || was.Len() == is.Len() && was.Len() > 0 && hasBetaLabel(was) {
		return
	}
	c.invalid(shown(now), "field is immutable, except for updating from beta label to GA")
}

func hasBetaLabel(terms document.Value) bool {
	for _, name := range []string{
		"failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region",
		"beta.kubernetes.io/os", "beta.kubernetes.io/arch", "beta.kubernetes.io/instance-type",
	} {
		if hasText(terms, name) {
			return true
		}
	}
	return false
}
