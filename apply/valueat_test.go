package apply

import (
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/schema"
)

// valueAt returns the value in the document of v at the path p, or an absent value if p does not exist.
func valueAt(v versioned, p fieldset.Path) document.Value {
	t, doc := v.t, v.doc
	for _, e := range p {
		if t == nil {
			t = schema.Untyped
		}
		doc = childOf(doc, selectInSetOrder(nil, t, doc, fieldset.New(fieldset.Path{e})), e, 0)
		t, _ = childType(t, e)
	}
	return doc
}
