package apply

import (
	"cmp"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/schema"
)

// intent is the outcome of reading an applied configuration: the merged document and the field set that the applier
// will own.
type intent struct {
	// config is the configuration. If setsUntracked is true, its unset markers have been removed.
	config document.Value
	// merged is the live document with the fields that the configuration sets, and without the fields at which the
	// configuration has unset markers.
	merged document.Value
	// fieldsV1 is the encoded field set that the applier will own, unset fields included.
	fieldsV1 string
	// unset are the fields at which the configuration has unset markers.
	unset fieldset.Set
	// setsUntracked reports that the configuration may set values that its field set does not record: null or an
	// empty list in place of a container, or reset fields.
	setsUntracked bool
}

// fields decodes the field set that the applier will own.
func (i intent) fields() fieldset.Set {
	set, err := fieldset.ParseFieldsV1(i.fieldsV1)
	if err != nil {
		panic("apply: decoding a FieldsV1 text that the engine itself encoded: " + err.Error())
	}
	return set
}

// readConfig validates a configuration and computes its intent.
func (e *Engine) readConfig(t *schema.Type, live, config document.Value, version string) (intent, error) {
	reset := e.options.Reset[version]
	markers := e.options.Unset && mayContainMarker(config)
	intended, done := e.walk(t, live, config, reset, markers)
	if !done {
		// The configuration is invalid or contains markers that configWalker does not support, or Options.plain is set.
		var err error
		if intended, err = e.readInSteps(t, live, config, reset, markers); err != nil {
			return intent{}, err
		}
	}
	if !intended.unset.IsEmpty() && e.options.Default != nil {
		intended.fieldsV1 = e.fieldsWithDefaults(t, intended).Difference(untrackedFields).RecursiveDifference(reset).FieldsV1()
	}
	return intended, nil
}

// walk computes the intent of a configuration in one pass. done is false if configWalker can't read the configuration,
// or if Options.plain disables configWalker.
func (e *Engine) walk(t *schema.Type, live, config document.Value, reset fieldset.Set, markers bool) (intended intent, done bool) {
	if e.options.plain {
		return intent{}, false
	}
	return walkConfig(t, live, config, reset, markers)
}

// readInSteps validates a configuration, separates its unset markers, and computes the intent of the rest.
func (e *Engine) readInSteps(t *schema.Type, live, config document.Value, reset fieldset.Set, markers bool) (intent, error) {
	rest, unset, err := config, fieldset.Set{}, error(nil)
	if markers {
		rest, unset, err = splitMarkers(t, config, e.options.NoZeroKeys)
	}
	if err := cmp.Or(validate(t, live, config, e.options.Unset), err); err != nil {
		return intent{}, err
	}
	intended, done := e.walk(t, live, rest, reset, false)
	if !done {
		intended = readPlain(t, live, rest, reset)
	}
	if !unset.IsEmpty() {
		intended.unset = unset
		intended.merged = removeFields(t, intended.merged, unset)
		intended.fieldsV1 = intended.fields().Union(unset).Difference(untrackedFields).RecursiveDifference(reset).FieldsV1()
	}
	return intended, nil
}

// fieldsWithDefaults returns the field set that the applier will own. If defaulting sets a field at which the
// configuration has an unset marker, the applier owns the default as if it had applied that value (KEP-5051).
func (e *Engine) fieldsWithDefaults(t *schema.Type, intended intent) fieldset.Set {
	defaulted := e.options.Default(intended.merged)
	restored := pathsOf(t, defaulted).Intersection(intended.unset)
	return intended.fields().Difference(restored).Union(fieldsOf(t, defaulted).Covered(restored))
}

// readPlain computes the intent of a valid configuration without markers in separate steps. It is the plain
// equivalent of walkConfig.
func readPlain(t *schema.Type, live, config document.Value, reset fieldset.Set) intent {
	var m merger
	return intent{
		config:        config,
		merged:        m.merge(t, live, config),
		fieldsV1:      fieldsOf(t, config).Difference(untrackedFields).RecursiveDifference(reset).FieldsV1(),
		setsUntracked: true,
	}
}
