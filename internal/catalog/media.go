package catalog

import (
	"slices"
	"strings"

	"github.com/cadastre/cadastre/internal/kinds"
)

// The media that operations name. Clients choose by them: kubectl patches strategically what takes such patches.

const (
	protobuf       = "application/vnd.kubernetes.protobuf"
	strategicPatch = "application/strategic-merge-patch+json"
)

var (
	anything = []string{"*/*"}
	aboutAPI = []string{"application/json", "application/yaml", protobuf}
	objects  = append(slices.Clip(aboutAPI), "application/cbor")
	streams  = []string{"application/json;stream=watch", protobuf + ";stream=watch", "application/cbor-seq"}
	patches  = []string{
		"application/json-patch+json", "application/merge-patch+json", strategicPatch,
		"application/apply-patch+yaml", "application/apply-patch+cbor",
	}
)

// without returns the media that are not of a type.
func without(mediaType string, media []string) []string {
	return slices.DeleteFunc(slices.Clone(media), func(name string) bool { return strings.HasPrefix(name, mediaType) })
}

// kindMedia are the media of one kind.
type kindMedia struct {
	bodies, patches   []string // what it takes
	objects, listings []string // what it is answered in; listings are watches, too
}

// mediaOf returns the media of a kind. Those that bring a definition have no protobuf, and nothing says how the lists of
// custom ones are patched strategically.
func mediaOf(k *kinds.Kind, drop bool) kindMedia {
	m := kindMedia{bodies: anything, patches: patches, objects: objects}
	watches := streams
	if !k.HasProtobuf() {
		m.objects, watches = without(protobuf, m.objects), without(protobuf, watches)
	}
	if k.Custom {
		m.bodies, m.patches = m.objects, without(strategicPatch, m.patches)
	}
	m.listings = slices.Concat(m.objects, watches)
	if drop {
		m.objects, m.listings = orDropped(m.objects), orDropped(m.listings)
	}
	return m
}

// orDropped returns media, and each also without managedFields.
func orDropped(media []string) []string {
	all := slices.Clone(media)
	for _, name := range media {
		all = append(all, name+";drop=metadata.managedFields")
	}
	return all
}
