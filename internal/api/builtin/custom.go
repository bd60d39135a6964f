package builtin

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
)

// CheckMetadata returns the errors of the metadata of a custom resource; old is the object before an update, or absent on
// create. kube-apiserver checks the metadata of an update twice: general contains the errors of the checks for objects of all
// kinds, custom those of the checks for custom resources.
func CheckMetadata(obj, old document.Value, namespaced bool) (general, custom field.ErrorList) {
	c := checkers.Get().(*checker)
	c.namespaced, c.updating = namespaced, !isAbsentOrNull(old)
	c.push("metadata")
	value, oldValue := obj.Get("metadata"), old.Get("metadata")
	if c.updating {
		c.checkMeta(value, pathSegment)
		c.checkUpdatedMeta(value, oldValue)
		general, c.errs = c.errs, nil
		c.checkUpdatedMeta(value, oldValue)
	} else {
		c.checkCreatedMeta(value, nameFormats["dns-subdomain"])
	}
	custom = c.errs
	c.reset()
	checkers.Put(c)
	return general, custom
}

// embeddedName is the format of the names of resources that are embedded in custom resources.
var embeddedName = nameFormat{pathSegment, segmentPrefix, false}

// CheckEmbeddedMetadata returns the errors of the metadata of a resource that is embedded in a custom resource. path is the
// path of the metadata in the custom resource. The name and the namespace are optional.
func CheckEmbeddedMetadata(metadata document.Value, path string) field.ErrorList {
	c := checkers.Get().(*checker)
	c.namespaced = metadata.Get("namespace").Text() != ""
	c.push(path)
	if metadata.Get("name").Text() == "" {
		metadata = metadata.With("name", document.NewString("nameless"))
	}
	c.checkCreatedMeta(metadata, embeddedName)
	errs := c.errs
	c.reset()
	checkers.Put(c)
	return errs
}
