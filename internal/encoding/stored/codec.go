// Package stored translates objects between the values that kube-apiserver stores in etcd and canonical JSON at the storage version,
// which the watch cache requires.
//
// kube-apiserver stores objects as protobuf in an envelope (k8s\x00), or as JSON in the order of its Go types. Objects of built-in kinds
// may have any version that the kind has had, because kube-apiserver converts objects when it reads them, and stores them at the
// storage version when it next writes them. The decoder does the same: it decodes, sets the defaults of the stored version, and
// converts. Canonical JSON was written by Cadastre at the storage version; it is returned without a copy.
package stored

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/api/builtin"
	"github.com/cadastre/cadastre/internal/api/strategy"
	"github.com/cadastre/cadastre/internal/encoding/protobuf"
)

// The values of --storage-media-type.
const (
	JSON     = "application/json"
	Protobuf = "application/vnd.kubernetes.protobuf"
)

// protobufPrefix is the prefix of values in protobuf, and encryptedPrefix that of values that kube-apiserver has encrypted.
var (
	protobufPrefix  = []byte("k8s\x00")
	encryptedPrefix = []byte("k8s:enc:")
)

// errEncrypted is the error for encrypted values.
var errEncrypted = errors.New("value: expected JSON or protobuf, received a value that kube-apiserver has encrypted; decrypt it first: rewrite all objects with the provider identity")

// unlimited disables the size limit of the parser, because the values are stored already.
var unlimited = document.Limits{MaxBytes: -1}

// Codec implements the Codec of internal/storage/kubernetes. It is safe for concurrent use.
type Codec struct {
	// kinds are the built-in kinds by the name of their resource in keys, such as apps/deployments.
	kinds map[string]*api.Kind
	// isProtobuf makes Encode write protobuf if the kind has a Go type.
	isProtobuf bool
}

// NewCodec returns a Codec for objects of the built-in kinds, and of custom resources, which are all other kinds. mediaType is the
// media type of the objects that are written: JSON or Protobuf; "" means JSON.
func NewCodec(kinds []*api.Kind, mediaType string) (*Codec, error) {
	switch mediaType {
	case "", JSON, Protobuf:
	default:
		return nil, fmt.Errorf("storage media type: expected %s or %s, received %q", JSON, Protobuf, mediaType)
	}
	c := &Codec{kinds: map[string]*api.Kind{}, isProtobuf: mediaType == Protobuf}
	for _, k := range kinds {
		if !k.CreateOnly {
			c.kinds[k.StoreName()] = k
		}
	}
	return c, nil
}

// Resources returns the built-in resources that are stored, each as GROUP/RESOURCE.
func (c *Codec) Resources() []string {
	var all []string
	for name := range c.kinds {
		all = append(all, name)
	}
	return all
}

// kindOf returns the built-in kind of the object with the given key; nil if it is a custom resource.
func (c *Codec) kindOf(key string) *api.Kind {
	group, rest, _ := strings.Cut(key, "/")
	resource, _, _ := strings.Cut(rest, "/")
	return c.kinds[key[:min(len(key), len(group)+1+len(resource))]]
}

// Decode returns the canonical JSON of the object at its storage version. If stored is canonical JSON, Decode returns stored itself.
func (c *Codec) Decode(key string, stored []byte) ([]byte, error) {
	text := stored
	switch {
	case bytes.HasPrefix(stored, encryptedPrefix):
		return nil, errEncrypted
	case bytes.HasPrefix(stored, protobufPrefix):
		var err error
		if text, err = protobuf.Decode(protobufWithEqualVersion(stored), apischema.GroupVersionKind{}); err != nil {
			return nil, fmt.Errorf("value: expected protobuf of a built-in kind: %w", err)
		}
	}
	doc, err := document.ParseJSONLimited(text, unlimited)
	if err != nil {
		return nil, err
	}
	if own, ok := doc.CanonicalJSON(); ok && len(own) == len(stored) {
		return stored, nil
	}
	kind := c.kindOf(key)
	if kind == nil {
		return doc.AppendJSON(nil), nil
	}
	if doc, err = current(kind, doc); err != nil {
		return nil, err
	}
	return doc.AppendJSON(nil), nil
}

// current returns an object of a built-in kind as the current storage version represents it: decoded and defaulted at the version at
// which it is stored, and converted.
func current(kind *api.Kind, doc document.Value) (document.Value, error) {
	doc = withEqualVersion(doc)
	version := doc.Get("apiVersion").Text()
	if kind.Definition != nil {
		return currentDefinition(kind, doc)
	}
	group, number, hasGroup := strings.Cut(version, "/")
	if !hasGroup {
		group, number = "", version
	}
	values, err := strategy.BuiltinValues(group, number, kind.Name)
	if err != nil {
		return doc, fmt.Errorf("apiVersion: expected a version of %s, received %q; rewrite the object with a kube-apiserver that serves this version: %w", kind, version, err)
	}
	metadata := doc.Get("metadata")
	managed := metadata.Get("managedFields")
	doc = doc.With("metadata", metadata.Without("managedFields").Without("selfLink").Without("resourceVersion"))
	if doc, _, err = values.DecodeWith(doc, builtin.DecodeOptions{}); err != nil {
		return doc, err
	}
	if doc, err = kind.Convert(values.Default(doc), version, kind.StoredVersion()); err != nil {
		return doc, err
	}
	doc = kind.Normalize(doc)
	if managed.Len() > 0 {
		doc = doc.With("metadata", doc.Get("metadata").With("managedFields", managed))
	}
	return doc, nil
}

// Encode returns the form in which an object with the given canonical JSON is stored: the JSON itself, or protobuf.
func (c *Codec) Encode(key string, value []byte) ([]byte, error) {
	kind := c.kindOf(key)
	if !c.isProtobuf || kind == nil || !kind.HasGoType() {
		return value, nil
	}
	doc, err := document.ParseJSONLimited(value, unlimited)
	if err != nil {
		return nil, err
	}
	encoded, err := protobuf.Encode(doc)
	if noType := (*protobuf.NoTypeError)(nil); errors.As(err, &noType) {
		return value, nil
	}
	if err != nil {
		return nil, err
	}
	return encoded.AppendWhole(nil, false), nil
}
