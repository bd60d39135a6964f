package discovery

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/encoding"
)

// OpenAPI lists the media types of each operation. Clients depend on them: kubectl sends strategic merge patches only to
// kinds that list them.

// anyMediaType is the media type of request bodies of built-in kinds, as in kube-apiserver.
var anyMediaType = []string{"*/*"}

// aggregatedMedia returns the media types of aggregated discovery. As in kube-apiserver, OpenAPI lists them for the
// group documents.
func aggregatedMedia() (all []string) {
	for _, e := range encoding.Encodings {
		if e.AggregatedDiscovery {
			all = append(all, e.MediaType)
		}
	}
	return all
}

// kindMedia are the media types of one kind.
type kindMedia struct {
	bodies, patches   []string // of requests
	objects, listings []string // of responses; listings includes watches
}

// mediaOf returns the media types of a kind. Kinds without a Go type lack the encodings that need one, and custom
// resources do not support strategic merge patch. With drop, each media type of a response is also listed with the drop
// parameter.
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
		m.objects, m.listings = withDropped(m.objects), withDropped(m.listings)
	}
	return m
}

// withDropped returns media types, each also with the drop parameter for managedFields.
func withDropped(media []string) []string {
	all := slices.Clone(media)
	for _, name := range media {
		all = append(all, name+";drop=metadata.managedFields")
	}
	return all
}
