package apply

import (
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/schema"
)

// intent is what an applier wants, seen beside the live document.
type intent struct {
	// config is the configuration without unset markers.
	config document.Value
	// merged is the live document with all that the configuration sets.
	merged document.Value
	// fields are the fields that the applier is to own, those that it unsets
	// included.
	fields fieldset.Set
	// unset are the fields that markers are at.
	unset fieldset.Set
	// marks says that there are markers.
	marks bool
}

// read checks a configuration and finds out what it wants.
func (e *Engine) read(t *schema.Type, live, config document.Value) (intent, error) {
	if !e.options.Plain {
		in, done, err := walkConfig(t, live, config, e.options.Unset)
		if done || err != nil {
			return in, err
		}
	}
	return readPlainly(t, live, config, e.options.Unset)
}

// readPlainly does one thing after the other. It is what walkConfig must equal,
// and what is done with configurations that have markers.
func readPlainly(t *schema.Type, live, config document.Value, unset bool) (in intent, err error) {
	if in.marks, err = validate(t, config, unset); err != nil {
		return in, err
	}
	in.config = config
	if in.marks {
		if in.config, in.unset, err = splitMarkers(t, config); err != nil {
			return in, err
		}
	}
	in.fields = fieldsOf(t, in.config).Union(in.unset).Difference(neverOwned)
	var m merger
	in.merged = m.merge(t, live, in.config)
	return in, nil
}
