package differential

import "slices"

// Media that bodies are sent in, and answers asked for.
const (
	mediaYAML     = "application/yaml"
	mediaProtobuf = "application/vnd.kubernetes.protobuf"
)

// inAnotherForm sometimes sends a whole object as YAML or protobuf, or wants such an answer.
func (g *generator) inAnotherForm(s Step) Step {
	media := []string{mediaYAML}
	if !g.kind.isDefined() {
		media = append(media, mediaProtobuf)
	}
	if (s.Verb == "CREATE" || s.Verb == "UPDATE") && g.chance(20) && !s.hasUnknown() {
		s.Media = one(g, media)
	}
	if s.Verb != "DELETE" && s.Verb != "EDIT" && g.chance(8) {
		s.Accept = one(g, media)
	}
	return s
}

// hasUnknown is for what protobuf can't say.
func (s Step) hasUnknown() bool {
	return slices.ContainsFunc(places(s.Body), func(p place) bool { return len(p) > 0 && p[len(p)-1] == unknownName })
}
