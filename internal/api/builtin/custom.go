package builtin

import (
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
)

// CheckMetadata returns what is wrong with the metadata of a custom resource: what is checked of every object that is
// updated, and what custom resources check themselves. When it is created, old is absent.
func CheckMetadata(obj, old document.Value, namespaced bool) (general, own field.ErrorList) {
	c := checkers.Get().(*checker)
	c.namespaced, c.updating = namespaced, !isNothing(old)
	c.push("metadata")
	now, was := obj.Get("metadata"), old.Get("metadata")
	if c.updating {
		c.writtenMeta(now, pathSegment)
		c.updatedMeta(now, was)
		general, c.errs = c.errs, nil
		c.updatedMeta(now, was)
	} else {
		c.createdMeta(now, nameFormats["dns-subdomain"])
	}
	own = c.errs
	c.reset()
	checkers.Put(c)
	return general, own
}

// embeddedName is what resources in custom resources may be called.
var embeddedName = nameFormat{pathSegment, format{isDNSSubdomain, content.IsPathSegmentPrefix}, false}

// CheckEmbeddedMetadata returns what is wrong with the metadata of a resource in a custom resource, which is at the
// given place. It needs no name, and is in a namespace only if it says so.
func CheckEmbeddedMetadata(metadata document.Value, place string) field.ErrorList {
	c := checkers.Get().(*checker)
	c.namespaced = metadata.Get("namespace").Text() != ""
	c.push(place)
	if metadata.Get("name").Text() == "" {
		metadata = metadata.With("name", document.NewString("nameless"))
	}
	c.createdMeta(metadata, embeddedName)
	errs := c.errs
	c.reset()
	checkers.Put(c)
	return errs
}
