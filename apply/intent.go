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
	fieldsV1 string
	// unset are the fields that markers are at.
	unset fieldset.Set
	// hollow says that the configuration may set what its fields don't tell: null
	// or nothing in the place of a container, or fields that are reset.
	setsUntracked bool
}

// fields returns the set of the fields that the applier is to own.
func (in intent) fields() fieldset.Set {
	set, err := fieldset.ParseFieldsV1(in.fieldsV1)
	if err != nil {
		panic("apply: a field set that was written can't be read: " + err.Error())
	}
	return set
}

// readConfig checks a configuration and finds out what it wants.
func (e *Engine) readConfig(t *schema.Type, live, config document.Value, version string) (intent, error) {
	reset := e.options.Reset[version]
	markers := e.options.Unset && mayContainMarker(config)
	in, done := e.walk(t, live, config, reset, markers)
	if !done {
		// There is something wrong with it, or unusual about its markers, or
		// shortcuts are off.
		var err error
		if in, err = e.readInSteps(t, live, config, reset, markers); err != nil {
			return intent{}, err
		}
	}
	if !in.unset.IsEmpty() && e.options.Default != nil {
		in.fieldsV1 = e.fieldsWithDefaults(t, in).Difference(untrackedFields).RecursiveDifference(reset).FieldsV1()
	}
	return in, nil
}

// walk reads a configuration in one walk; done is false if that can't be, or shortcuts
// are off.
func (e *Engine) walk(t *schema.Type, live, config document.Value, reset fieldset.Set, markers bool) (in intent, done bool) {
	if e.options.plain {
		return intent{}, false
	}
	return walkConfig(t, live, config, reset, markers)
}

// readInSteps checks a configuration, takes its markers out, and reads the rest.
func (e *Engine) readInSteps(t *schema.Type, live, config document.Value, reset fieldset.Set, markers bool) (intent, error) {
	rest, unset, err := config, fieldset.Set{}, error(nil)
	if markers {
		rest, unset, err = splitMarkers(t, config)
	}
	if err := cmp.Or(validate(t, live, config, e.options.Unset), err); err != nil {
		return intent{}, err
	}
	in, done := e.walk(t, live, rest, reset, false)
	if !done {
		in = readPlain(t, live, rest, reset)
	}
	if !unset.IsEmpty() {
		in.unset = unset
		in.merged = remove(t, in.merged, unset)
		in.fieldsV1 = in.fields().Union(unset).Difference(untrackedFields).RecursiveDifference(reset).FieldsV1()
	}
	return in, nil
}

// fieldsWithDefaults returns the fields that the applier is to own when defaults come back
// in places that it unsets: it owns what they bring, as if it had applied it.
func (e *Engine) fieldsWithDefaults(t *schema.Type, in intent) fieldset.Set {
	defaulted := e.options.Default(in.merged)
	restored := pathsOf(t, defaulted).Intersection(in.unset)
	return in.fields().Difference(restored).Union(fieldsOf(t, defaulted).Covered(restored))
}

// readPlain finds out what a valid configuration without markers wants, one thing
// after the other. It is what the walker must equal.
func readPlain(t *schema.Type, live, config document.Value, reset fieldset.Set) intent {
	var m merger
	return intent{
		config: config,
		merged: m.merge(t, live, config),
		fieldsV1:   fieldsOf(t, config).Difference(untrackedFields).RecursiveDifference(reset).FieldsV1(),
		setsUntracked: true,
	}
}
