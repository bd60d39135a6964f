package discovery

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/encoding"
)

// OpenAPI lists the media types of each operation. Clients depend on them: kubectl sends strategic merge patches only to
// kinds that list them.

// anything is the media type of bodies of built-in kinds, as kube-apiserver lists it.
var anything = []string{"*/*"}

// aggregatedMedia returns the media types of aggregated discovery. As in kube-apiserver, OpenAPI lists them for the
// documents about groups.
func aggregatedMedia() (all []string) {
	for _, e := range encoding.Encodings {
		if e.AggregatedDiscovery {
			all = append(all, e.MediaType)
		}
	}
	return all
}

// kindMedia is the media types of one kind.
type kindMedia struct {
	bodies, patches   []string // of requests
	objects, listings []string // of responses; listings includes watches
}

// mediaOf returns the media types of a kind. Kinds without a Go type lack the encodings that need one, and custom resources
// have no strategic merge patches. With drop, each media type of a response is also listed without managedFields.
func mediaOf(k *api.Kind, drop bool) kindMedia {
	m := kindMedia{bodies: anything}
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
		m.objects, m.listings = orDropped(m.objects), orDropped(m.listings)
	}
	return m
}

// orDropped returns media types, each also without managedFields.
func orDropped(media []string) []string {
	all := slices.Clone(media)
	for _, name := range media {
		all = append(all, name+";drop=metadata.managedFields")
	}
	return all
}
