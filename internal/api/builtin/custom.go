package builtin

import (
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
)

// CheckMetadata validates the metadata of a custom resource. general are the errors of the checks for updates of any
// object, own those of custom resources. old is absent on create.
func CheckMetadata(obj, old document.Value, namespaced bool) (general, own field.ErrorList) {
	c := checkers.Get().(*checker)
	c.namespaced, c.updating = namespaced, !isAbsentOrNull(old)
	c.push("metadata")
	now, was := obj.Get("metadata"), old.Get("metadata")
	if c.updating {
		c.checkMeta(now, pathSegment)
		c.checkUpdatedMeta(now, was)
		general, c.errs = c.errs, nil
		c.checkUpdatedMeta(now, was)
	} else {
		c.checkCreatedMeta(now, nameFormats["dns-subdomain"])
	}
	own = c.errs
	c.reset()
	checkers.Put(c)
	return general, own
}

// embeddedName is the name format of resources embedded in custom resources.
var embeddedName = nameFormat{pathSegment, format{isDNSSubdomain, content.IsPathSegmentPrefix}, false}

// CheckEmbeddedMetadata validates the metadata, at a path, of a resource embedded in a custom resource. The name and
// the namespace are optional.
func CheckEmbeddedMetadata(metadata document.Value, place string) field.ErrorList {
	c := checkers.Get().(*checker)
	c.namespaced = metadata.Get("namespace").Text() != ""
	c.push(place)
	if metadata.Get("name").Text() == "" {
		metadata = metadata.With("name", document.NewString("nameless"))
	}
	c.checkCreatedMeta(metadata, embeddedName)
	errs := c.errs
	c.reset()
	checkers.Put(c)
	return errs
}
