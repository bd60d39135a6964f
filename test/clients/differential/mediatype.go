package differential

import "slices"

// Media types of request bodies and responses.
const (
	mediaYAML     = "application/yaml"
	mediaProtobuf = "application/vnd.kubernetes.protobuf"
)

// withMediaType sometimes makes a step send a complete object as YAML or protobuf, or request a response in these media
// types.
func (g *generator) withMediaType(s Step) Step {
	media := []string{mediaYAML}
	if !g.kind.isCustom() {
		media = append(media, mediaProtobuf)
	}
	if (s.Verb == "CREATE" || s.Verb == "UPDATE") && g.chance(20) && !s.hasUnknown() {
		s.Media = pick(g, media)
	}
	if s.Verb != "DELETE" && s.Verb != "EDIT" && g.chance(8) {
		s.Accept = pick(g, media)
	}
	return s
}

// hasUnknown reports whether the body of s contains an unknown field, which protobuf cannot encode.
func (s Step) hasUnknown() bool {
	return slices.ContainsFunc(fieldPaths(s.Body), func(p fieldPath) bool { return len(p) > 0 && p[len(p)-1] == unknownField })
}
