package kubernetes

import (
	"fmt"
	"strings"
)

// Layout maps the keys of items, GROUP/RESOURCE/…, to the keys of kube-apiserver, without its prefix /registry/. It is immutable.
type Layout struct {
	// prefixes maps each built-in resource to the prefix of its keys, and resources maps each such prefix to the resource.
	prefixes, resources map[string]string
}

// InternalGroup is the group in the keys of items that are not objects of the API. kube-apiserver has no such prefix, and ignores
// them.
const InternalGroup = "cadastre"

// specialPrefixes are the prefixes of kube-apiserver that do not follow from the name of the resource.
var specialPrefixes = map[string]string{
	"core/endpoints":              "services/endpoints",
	"core/nodes":                  "minions",
	"core/replicationcontrollers": "controllers",
	"core/services":               "services/specs",
	"networking.k8s.io/ingresses": "ingress",
	// These resources are stored by servers that kube-apiserver contains, and that place the group before the resource.
	"apiextensions.k8s.io/customresourcedefinitions": "apiextensions.k8s.io/customresourcedefinitions",
	"apiregistration.k8s.io/apiservices":             "apiregistration.k8s.io/apiservices",
}

// NewLayout returns the layout for the built-in resources, each as GROUP/RESOURCE; the core group is "core". All other resources are
// custom resources, whose keys are the same in Cadastre and in kube-apiserver. It returns an error if two resources have the same
// prefix.
func NewLayout(builtin []string) (Layout, error) {
	l := Layout{prefixes: map[string]string{}, resources: map[string]string{}}
	for _, resource := range builtin {
		prefix, isSpecial := specialPrefixes[resource]
		if !isSpecial {
			_, prefix, _ = strings.Cut(resource, "/")
		}
		if other, exists := l.resources[prefix]; exists {
			return Layout{}, fmt.Errorf("key prefix %s: expected one resource, received %s and %s", prefix, other, resource)
		}
		l.prefixes[resource], l.resources[prefix] = prefix, resource
	}
	return l, nil
}

// Stored returns the key of kube-apiserver for key, which is the key of an item, or a prefix of keys that contains at least
// GROUP/RESOURCE/, or "".
func (l Layout) Stored(key string) (string, error) {
	if key == "" {
		return "", nil
	}
	resource, rest, ok := cutSegments(key, 2)
	if !ok {
		return "", fmt.Errorf("storage key: expected GROUP/RESOURCE/NAME or GROUP/RESOURCE/NAMESPACE/NAME, received %q", key)
	}
	if prefix, isBuiltin := l.prefixes[resource]; isBuiltin {
		return prefix + "/" + rest, nil
	}
	return key, nil
}

// Item returns the key of the item that is stored at the key stored; ok is false if stored is not the key of an object or of an
// internal item, such as ranges/serviceips and masterleases/10.0.0.1.
func (l Layout) Item(stored string) (key string, ok bool) {
	for segments := 1; segments <= 2; segments++ {
		prefix, rest, hasRest := cutSegments(stored, segments)
		if resource, isBuiltin := l.resources[prefix]; hasRest && isBuiltin {
			return resource + "/" + rest, rest != ""
		}
	}
	resource, rest, ok := cutSegments(stored, 2)
	group, _, _ := strings.Cut(resource, "/")
	isCustom := strings.Contains(group, ".") || group == InternalGroup
	return stored, ok && rest != "" && isCustom
}

// cutSegments cuts key after the first n segments, which rest does not contain; ok is false if there is no slash after them.
func cutSegments(key string, n int) (first, rest string, ok bool) {
	end := -1
	for range n {
		next := strings.IndexByte(key[end+1:], '/')
		if next < 0 {
			return "", "", false
		}
		end += 1 + next
	}
	return key[:end], key[end+1:], true
}
