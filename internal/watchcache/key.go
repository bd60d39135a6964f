package watchcache

import (
	"fmt"
	"strings"
)

// Key identifies an object of the store by resource, namespace and name.
type Key struct {
	Kind      string // the resource, as GROUP/RESOURCE
	Namespace string // "" if the object is cluster-scoped
	Name      string
}

func (k Key) String() string {
	if k.Namespace == "" {
		return k.Kind + "/" + k.Name
	}
	return k.Kind + "/" + k.Namespace + "/" + k.Name
}

// ParseKey parses a key in the format of Key.String: GROUP/RESOURCE/NAMESPACE/NAME, or GROUP/RESOURCE/NAME.
func ParseKey(text string) (Key, error) {
	kind, rest, ok := cutResource(text)
	if !ok {
		return Key{}, keyError(text)
	}
	namespace, name := splitNamespacedName(rest)
	if name == "" || namespace == "" && len(name) < len(rest) || strings.Contains(name, "/") {
		return Key{}, keyError(text)
	}
	return Key{Kind: kind, Namespace: namespace, Name: name}, nil
}

// isGroupResource reports whether text has the form GROUP/RESOURCE.
func isGroupResource(text string) bool {
	kind, rest, ok := cutResource(text + "/")
	return ok && kind == text && rest == ""
}

// isValid reports whether ParseKey(k.String()) returns k.
func (k Key) isValid() bool {
	return isGroupResource(k.Kind) && k.Name != "" && !strings.Contains(k.Namespace, "/") && !strings.Contains(k.Name, "/")
}

func keyError(text string) error {
	return fmt.Errorf("cache: expected a key such as apps/deployments/default/web or core/nodes/n1, received %q", text)
}

// cutResource splits key into kind, which is GROUP/RESOURCE, and rest, the text after the next slash. ok is false if
// key has no such prefix.
func cutResource(key string) (kind, rest string, ok bool) {
	group := strings.IndexByte(key, '/')
	if group <= 0 {
		return "", "", false
	}
	resource := strings.IndexByte(key[group+1:], '/')
	if resource <= 0 {
		return "", "", false
	}
	end := group + 1 + resource
	return key[:end], key[end+1:], true
}

// splitNamespacedName splits rest, the part of a key after the resource, into namespace and name. rest is
// NAMESPACE/NAME, or NAME for a cluster-scoped object.
func splitNamespacedName(rest string) (namespace, name string) {
	if before, after, ok := strings.Cut(rest, "/"); ok {
		return before, after
	}
	return "", rest
}
