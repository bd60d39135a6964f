package cli

import (
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/ownership"
)

// Plans and conflicts are read over shoulders and kept in logs: they show that a value of a Secret is another one, and
// not which, as kubectl diff does. Who asks for an object gets it.
const mask, maskBefore, maskAfter = "***", "*** (before)", "*** (after)"

func (t target) isSecret() bool { return t.kind.Group == "" && t.kind.Name == "Secret" }

// masked returns an object before and after without the values that must not be shown.
func (t target) masked(before, after document.Value) (document.Value, document.Value) {
	if !t.isSecret() {
		return before, after
	}
	return maskSecret(before, after, maskBefore), maskSecret(after, before, maskAfter)
}

// maskSecret hides the values of a Secret, and those that client-side apply has noted. What the other state has
// differently gets another mask.
func maskSecret(doc, other document.Value, different string) document.Value {
	for _, path := range [][]string{{"data"}, {"stringData"}, {"metadata", "annotations"}} {
		values := doc.Lookup(path...)
		for name, v := range values.Fields() {
			if v.Kind() != document.String || len(path) > 1 && name != ownership.LastAppliedAnnotation {
				continue
			}
			shown := mask
			if theirs := other.Lookup(append(path[:len(path):len(path)], name)...); !theirs.IsAbsent() && !document.Equal(v, theirs) {
				shown = different
			}
			values = values.With(name, document.NewString(shown))
		}
		if values.Kind() == document.Map {
			doc = setAt(doc, values, path...)
		}
	}
	return doc
}

// withAt returns a document with another value at a path of fields.
func setAt(doc, v document.Value, path ...string) document.Value {
	if len(path) == 0 {
		return v
	}
	return doc.With(path[0], setAt(doc.Get(path[0]), v, path[1:]...))
}

// mask hides what must not be shown of a plan.
func (p *objectPlan) mask() {
	p.before.Document, p.after.Document = p.target.masked(p.before.Document, p.after.Document)
	for i, s := range p.plan.Kept {
		p.plan.Kept[i].Value = ownership.ValueAt(p.after.Document, s.Path)
	}
}
