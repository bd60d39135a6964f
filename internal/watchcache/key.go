package watchcache

import (
	"fmt"
	"strings"
)

// Key says which object is meant.
type Key struct {
	Kind      string // GROUP/RESOURCE
	Namespace string // "" if the kind has none
	Name      string
}

func (k Key) String() string {
	if k.Namespace == "" {
		return k.Kind + "/" + k.Name
	}
	return k.Kind + "/" + k.Namespace + "/" + k.Name
}

// ParseKey takes apart what String made.
func ParseKey(text string) (Key, error) {
	kind, rest, ok := cutKind(text)
	if !ok {
		return Key{}, keyError(text)
	}
	namespace, name := splitPlace(rest)
	if name == "" || namespace == "" && len(name) < len(rest) || strings.Contains(name, "/") {
		return Key{}, keyError(text)
	}
	return Key{Kind: kind, Namespace: namespace, Name: name}, nil
}

// isKind reports whether a text is GROUP/RESOURCE.
func isKind(text string) bool {
	kind, rest, ok := cutKind(text + "/")
	return ok && kind == text && rest == ""
}

// isValid reports whether String makes a text that means this key.
func (k Key) isValid() bool {
	return isKind(k.Kind) && k.Name != "" && !strings.Contains(k.Namespace, "/") && !strings.Contains(k.Name, "/")
}

func keyError(text string) error {
	return fmt.Errorf("cache: expected a key such as apps/deployments/default/web or core/nodes/n1, received %q", text)
}

// cutKind returns the kind that a key is of, and what is after it.
func cutKind(key string) (kind, rest string, ok bool) {
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

// splitPlace takes apart what is after the kind.
func splitPlace(rest string) (namespace, name string) {
	if before, after, ok := strings.Cut(rest, "/"); ok {
		return before, after
	}
	return "", rest
}
