package cli

import (
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/ownership"
)

// mask, maskBefore and maskAfter replace values of Secrets in plans and conflicts, which may be shown on shared screens and
// in logs. Like kubectl diff, they show that a value differs, but not the value. Verbs that print objects (apply -o json,
// extract, blame) do not mask values.
const mask, maskBefore, maskAfter = "***", "*** (before)", "*** (after)"

func (t target) isSecret() bool { return t.kind.Group == "" && t.kind.Name == "Secret" }

// masked returns before and after, the states of the target before and after a change. If the target is a Secret, their
// values are masked.
func (t target) masked(before, after document.Value) (document.Value, document.Value) {
	if !t.isSecret() {
		return before, after
	}
	return maskSecret(before, after, maskBefore), maskSecret(after, before, maskAfter)
}

// maskSecret returns doc, a Secret, with its values and its last-applied-configuration annotation masked. A value that
// counterpart contains too, with different content, is replaced with differingMask, and any other value with mask.
func maskSecret(doc, counterpart document.Value, differingMask string) document.Value {
	for _, path := range [][]string{{"data"}, {"stringData"}, {"metadata", "annotations"}} {
		values := doc.Lookup(path...)
		for name, v := range values.Fields() {
			if v.Kind() != document.String || len(path) > 1 && name != ownership.LastAppliedAnnotation {
				continue
			}
			shown := mask
			if otherValue := counterpart.Lookup(append(path[:len(path):len(path)], name)...); !otherValue.IsAbsent() && !document.Equal(v, otherValue) {
				shown = differingMask
			}
			values = values.With(name, document.NewString(shown))
		}
		if values.Kind() == document.Map {
			doc = setAt(doc, values, path...)
		}
	}
	return doc
}

// setAt returns doc with the value at path, which consists of field names, set to v.
func setAt(doc, v document.Value, path ...string) document.Value {
	if len(path) == 0 {
		return v
	}
	return doc.With(path[0], setAt(doc.Get(path[0]), v, path[1:]...))
}

// mask masks values in a plan if the object is a Secret.
func (p *objectPlan) mask() {
	p.before.Document, p.after.Document = p.target.masked(p.before.Document, p.after.Document)
	for i, s := range p.plan.Kept {
		p.plan.Kept[i].Value = ownership.ValueAt(p.after.Document, s.Path)
	}
}
