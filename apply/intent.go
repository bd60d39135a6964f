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
	// text is the FieldsV1 of the fields that the applier is to own, those that
	// it unsets included.
	text string
	// unset are the fields that markers are at.
	unset fieldset.Set
	// marks says that there are markers.
	marks bool
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
	if in, done := e.walk(t, live, config, reset, e.options.Unset); done {
		return in, nil
	}
	// There is something wrong with it, or it has markers.
	marks, err := validate(t, config, e.options.Unset)
	if err != nil {
		return intent{}, err
	}
	if !marks {
		return readPlainly(t, live, config, reset), nil
	}
	rest, unset, err := splitMarkers(t, config)
	if err != nil {
		return intent{}, err
	}
	in, done := e.walk(t, live, rest, reset, false)
	if !done {
		in = readPlainly(t, live, rest, reset)
	}
	in.marks, in.unset = true, unset
	owned := e.withDefaults(t, in, in.fields().Union(unset))
	in.text = owned.Difference(neverOwned).RecursiveDifference(reset).FieldsV1()
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

// walk is walkConfig, unless shortcuts are off.
func (e *Engine) walk(t *schema.Type, live, config document.Value, reset fieldset.Set, unset bool) (in intent, done bool) {
	if e.options.Plain {
		return intent{}, false
	}
	return walkConfig(t, live, config, reset, unset)
}

// readPlainly finds out what a valid configuration without markers wants, one thing
// after the other. It is what the walker must equal.
func readPlainly(t *schema.Type, live, config document.Value, reset fieldset.Set) intent {
	var m merger
	return intent{
		config: config,
		merged: m.merge(t, live, config),
		text:   fieldsOf(t, config).Difference(neverOwned).RecursiveDifference(reset).FieldsV1(),
	}
}

// merge merges a configuration that has been read before.
func (e *Engine) merge(t *schema.Type, live, config document.Value) document.Value {
	if in, done := e.walk(t, live, config, fieldset.Set{}, false); done {
		return in.merged
	}
	var m merger
	return m.merge(t, live, config)
}
