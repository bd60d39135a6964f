package watchcache

import (
	"fmt"
	"strings"
)

// Key identifies an object.
type Key struct {
	Kind      string // GROUP/RESOURCE
	Namespace string // "" if the resource is cluster-scoped
	Name      string
}

func (k Key) String() string {
	if k.Namespace == "" {
		return k.Kind + "/" + k.Name
	}
	return k.Kind + "/" + k.Namespace + "/" + k.Name
}

// ParseKey parses the result of Key.String.
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

// isGroupResource reports whether a text is GROUP/RESOURCE.
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

// cutResource splits a key after GROUP/RESOURCE.
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

// splitNamespacedName splits NAMESPACE/NAME, or NAME of a cluster-scoped object.
func splitNamespacedName(rest string) (namespace, name string) {
	if before, after, ok := strings.Cut(rest, "/"); ok {
		return before, after
	}
	return "", rest
}
