package apply

import (
	"cmp"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/schema"
)

// intent is what an applier wants, seen beside the live document.
type intent struct {
	// config is the configuration; if it is hollow, without unset markers.
	config document.Value
	// merged is the live document with all that the configuration sets, and without
	// what it unsets.
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
	markers := e.options.Unset && mentionsMarker(config)
	in, done := e.walkOnce(t, live, config, reset, markers)
	if !done {
		// There is something wrong with it, or unusual about its markers, or
		// shortcuts are off.
		var err error
		if in, err = e.readWithoutMarkers(t, live, config, reset, markers); err != nil {
			return intent{}, err
		}
	}
	if !in.unset.IsEmpty() && e.options.Default != nil {
		in.text = e.withDefaults(t, in).Difference(neverOwned).RecursiveDifference(reset).FieldsV1()
	}
	return in, nil
}

// walkOnce reads a configuration in one walk; done is false if that can't be, or shortcuts
// are off.
func (e *Engine) walkOnce(t *schema.Type, live, config document.Value, reset fieldset.Set, markers bool) (in intent, done bool) {
	if e.options.plain {
		return intent{}, false
	}
	return walkConfig(t, live, config, reset, markers)
}

// readWithoutMarkers checks a configuration, takes its markers out, and reads the rest.
func (e *Engine) readWithoutMarkers(t *schema.Type, live, config document.Value, reset fieldset.Set, markers bool) (intent, error) {
	rest, unset, err := config, fieldset.Set{}, error(nil)
	if markers {
		rest, unset, err = splitMarkers(t, config)
	}
	if err := cmp.Or(validate(t, live, config, e.options.Unset), err); err != nil {
		return intent{}, err
	}
	in, done := e.walkOnce(t, live, rest, reset, false)
	if !done {
		in = readPlainly(t, live, rest, reset)
	}
	if !unset.IsEmpty() {
		in.unset = unset
		in.merged = remove(t, in.merged, unset)
		in.text = in.fields().Union(unset).Difference(neverOwned).RecursiveDifference(reset).FieldsV1()
	}
	return in, nil
}

// withDefaults returns the fields that the applier is to own when defaults come back
// in places that it unsets: it owns what they bring, as if it had applied it.
func (e *Engine) withDefaults(t *schema.Type, in intent) fieldset.Set {
	defaulted := e.options.Default(in.merged)
	back := pathsOf(t, defaulted).Intersection(in.unset)
	return in.fields().Difference(back).Union(fieldsOf(t, defaulted).Covered(back))
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
