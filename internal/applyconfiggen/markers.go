package applyconfiggen

import (
	"encoding/json"
	"go/ast"
	"slices"
	"strings"
)

// markers maps the name of each marker in a comment, a line such as +listType=map, to its values.
type markers map[string][]string

// readMarkers returns the markers in the given comments.
func readMarkers(groups ...*ast.CommentGroup) markers {
	m := markers{}
	for _, group := range groups {
		if group == nil {
			continue
		}
		for _, comment := range group.List {
			text := strings.TrimSpace(strings.TrimPrefix(comment.Text, "//"))
			if marker, ok := strings.CutPrefix(text, "+"); ok {
				name, value, _ := strings.Cut(marker, "=")
				m[name] = append(m[name], value)
			}
		}
	}
	return m
}

func (m markers) has(name string) bool { return m[name] != nil }

// first returns the first value of the first marker in names that the comment contains; "" if it contains none of them.
func (m markers) first(names ...string) string {
	for _, name := range names {
		if values := m[name]; len(values) > 0 {
			return strings.Trim(values[0], `"`)
		}
	}
	return ""
}

// defaultValue returns the default of a field in the syntax of the struct tag merge: JSON, but strings without quotes.
func (m markers) defaultValue() (string, bool) {
	for _, name := range []string{"default", "kubebuilder:default"} {
		if !m.has(name) {
			continue
		}
		value := m[name][0]
		if text := ""; json.Unmarshal([]byte(value), &text) == nil {
			return text, true
		}
		return value, !strings.HasPrefix(value, "ref(")
	}
	return "", false
}

// subresources returns the subresources of a kind for which Extract functions are generated: those in
// +genclient:method markers, and status unless the kind has none.
func (m markers) subresources(hasStatus bool) []string {
	var all []string
	for _, value := range m["genclient:method"] {
		for option := range strings.SplitSeq(value, ",") {
			if name, ok := strings.CutPrefix(strings.TrimSpace(option), "subresource="); ok && !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	if hasStatus && !m.has("genclient:noStatus") && !slices.Contains(all, "status") {
		all = append(all, "status")
	}
	return all
}

// isClusterScoped reports whether a marker of client-gen or controller-gen declares that a kind is cluster-scoped.
func (m markers) isClusterScoped() bool {
	for name, values := range m {
		resource, isResource := strings.CutPrefix(name, "kubebuilder:resource")
		if isResource && (strings.HasSuffix(resource, ":scope") && strings.HasPrefix(values[0], "Cluster") || strings.Contains(values[0], "scope=Cluster")) {
			return true
		}
	}
	return m.has("genclient:nonNamespaced")
}
