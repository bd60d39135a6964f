package apply

import (
	"cmp"

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
	// text is the FieldsV1 of the fields that the applier is to own, those that
	// it unsets included.
	text string
	// unset are the fields that markers are at.
	unset fieldset.Set
	// hollow says that the configuration may set what its fields don't tell: null
	// or nothing in the place of a container, or fields that are reset.
	hollow bool
}

// fields returns the set of the fields that the applier is to own.
func (in intent) fields() fieldset.Set {
	set, err := fieldset.ParseFieldsV1(in.text)
	if err != nil {
		panic("apply: a field set that was written can't be read: " + err.Error())
	}
	return set
}

// read checks a configuration and finds out what it wants.
func (e *Engine) read(t *schema.Type, live, config document.Value, version string) (intent, error) {
	reset := e.options.Reset[version]
	rest, unset, markerErr := config, fieldset.Set{}, error(nil)
	if e.options.Unset && mentionsMarker(config) {
		rest, unset, markerErr = splitMarkers(t, config)
	}
	in, done := intent{}, false
	if markerErr == nil && !e.options.Plain {
		in, done = walkConfig(t, live, rest, reset)
	}
	if !done {
		// There is something wrong with it, or shortcuts are off.
		if err := cmp.Or(validate(t, live, config, e.options.Unset), markerErr); err != nil {
			return intent{}, err
		}
		in = readPlainly(t, live, rest, reset)
	}
	if in.unset = unset; !unset.IsEmpty() {
		owned := e.withDefaults(t, in, in.fields().Union(unset))
		in.text = owned.Difference(neverOwned).RecursiveDifference(reset).FieldsV1()
	}
	return in, nil
}

// withDefaults returns the fields that the applier is to own when defaults come back
// in places that it unsets: it owns what they bring, as if it had applied it.
func (e *Engine) withDefaults(t *schema.Type, in intent, owned fieldset.Set) fieldset.Set {
	if e.options.Default == nil {
		return owned
	}
	var r remover
	defaulted := e.options.Default(r.remove(t, in.merged, in.unset))
	back := pathsOf(t, defaulted).Intersection(in.unset)
	return owned.Difference(back).Union(fieldsOf(t, defaulted).Covered(back))
}

// readPlainly finds out what a valid configuration without markers wants, one thing
// after the other. It is what the walker must equal.
func readPlainly(t *schema.Type, live, config document.Value, reset fieldset.Set) intent {
	var m merger
	return intent{
		config: config,
		merged: m.merge(t, live, config),
		text:   fieldsOf(t, config).Difference(neverOwned).RecursiveDifference(reset).FieldsV1(),
		hollow: true,
	}
}
