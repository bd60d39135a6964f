package discovery

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/encoding"
)

// This file determines the media types that OpenAPI documents list for each operation. Clients depend on them: kubectl sends
// a strategic merge patch only to kinds whose PATCH operation lists its media type.

// anyMediaType is the list of media types that OpenAPI documents contain for request bodies of built-in kinds, as in
// kube-apiserver.
var anyMediaType = []string{"*/*"}

// kindMedia holds the media types that requests for a kind support.
type kindMedia struct {
	bodies, patches   []string // media types of request bodies: of create and update, and of patch
	objects, listings []string // media types of responses: of a single object, and of list and watch
}

// mediaOf returns the media types of k. Kinds without a Go type do not support the encodings that require one, such as
// protobuf, and custom resources do not support strategic merge patch. If drop is set, it lists each media type of a response a
// second time, with the parameter that omits managedFields.
func mediaOf(k *api.Kind, drop bool) kindMedia {
	m := kindMedia{bodies: anyMediaType}
	var streams []string
	for _, e := range encoding.Encodings {
		if e.NeedsGoType && !k.HasGoType() {
			continue
		}
		m.objects = append(m.objects, e.MediaType)
		if e.StreamType != "" {
			streams = append(streams, e.StreamType)
		}
	}
	m.patches = []string{string(types.JSONPatchType), string(types.MergePatchType)}
	if k.Custom {
		m.bodies = m.objects
	} else {
		m.patches = append(m.patches, string(types.StrategicMergePatchType))
	}
	m.patches = append(m.patches, encoding.ApplyTypes()...)
	m.listings = slices.Concat(m.objects, streams)
	if drop {
		m.objects, m.listings = withDropVariants(m.objects), withDropVariants(m.listings)
	}
	return m
}

// withDropVariants returns media, followed by each media type in media with the parameter that omits managedFields.
func withDropVariants(media []string) []string {
	all := slices.Clone(media)
	for _, name := range media {
		all = append(all, name+";drop=metadata.managedFields")
	}
	return all
}
