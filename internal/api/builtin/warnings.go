package builtin

import (
	"fmt"

	"github.com/cadastre/cadastre/document"
)

// Warnings returns kube-apiserver's warnings about a valid object. old is the live object, or absent on create. Without
// warnings, it does not allocate.
func (t *Type) Warnings(obj, old document.Value) []string {
	return t.warnings(ruleset().warnings[t], obj, old)
}

// StatusWarnings returns kube-apiserver's warnings about a status update.
func (t *Type) StatusWarnings(obj, live document.Value) []string {
	return t.warnings(ruleset().statusWarnings[t], obj, live)
}

// RequestWarnings returns kube-apiserver's warnings about the object of a create request before it is prepared and
// validated: preparing replaces deprecated fields.
func (t *Type) RequestWarnings(obj document.Value) []string {
	return t.warnings(ruleset().requestWarnings[t], obj, document.Value{})
}

func (t *Type) warnings(b *block, obj, old document.Value) []string {
	if b == nil {
		return nil
	}
	c := checkers.Get().(*checker)
	c.kind, c.updating = t, !isAbsentOrNull(old)
	c.run(b, obj, old)
	found := c.warnings
	c.reset()
	checkers.Put(c)
	return found
}

// maxWarnings is the maximum number of warnings: responses are truncated at 4,096 characters, and every warning has at
// least 16.
const maxWarnings = 256

// warn adds a warning with the path of a field below the current path.
func (c *checker) warn(text string, below ...string) {
	if !c.hasMaxWarnings() {
		c.addWarning(c.fieldPath(below...) + ": " + text)
	}
}

// addWarning adds a warning.
func (c *checker) addWarning(text string) {
	if !c.hasMaxWarnings() {
		c.warnings = append(c.warnings, text)
	}
}

func (c *checker) hasMaxWarnings() bool { return len(c.warnings) >= maxWarnings }

// keyPath returns the path of a map key below the current path.
func (c *checker) keyPath(key string, below ...string) string {
	return c.fieldPath(below...) + "[" + key + "]"
}

// warningChecks are the checks that only warnings name.
func warningChecks() map[string]checkFactory {
	return map[string]checkFactory{
		"warn":              warning(isSetByClient),
		"warn-unset":        warning(isAbsentOrNull),
		"warn-empty":        warning(func(v document.Value) bool { return v.Text() == "" }),
		"warn-negative":     warning(func(v document.Value) bool { return intValue(v) < 0 }),
		"warn-plain-always": plainWarning(func(document.Value) bool { return true }),
		"warn-plain":        plainWarning(isSetByClient),
		"has":               makeHas,
		"warn-key":          makeWarnKey,
		"warn-new-key":      makeWarnNewKey,
		"warn-duplicate":    makeWarnDuplicate,
		"recommended-label": makeRecommendedLabel,
	}
}

// warning returns the factory of a check that warns, with the path, about values that a predicate selects.
func warning(of func(document.Value) bool) checkFactory {
	return withDetail("", func(c *checker, v document.Value, detail string) bool {
		if of(v) {
			c.warn(detail)
		}
		return true
	})
}

// plainWarning returns the factory of a check that warns, without a path, about values that a predicate selects.
func plainWarning(of func(document.Value) bool) checkFactory {
	return withDetail("", func(c *checker, v document.Value, detail string) bool {
		if of(v) {
			c.addWarning(detail)
		}
		return true
	})
}

// makeOld applies the rules of a type to the previous value.
func (book *rulebook) makeOld(args []string) (check, error) {
	if len(args) != 1 || book.blocks[args[0]] == nil {
		return nil, fmt.Errorf("expected a type, received %q", args)
	}
	used := book.blocks[args[0]]
	return func(c *checker, _, old document.Value) bool {
		if !isAbsentOrNull(old) {
			c.run(used, old, document.Value{})
		}
		return true
	}, nil
}

// makeHas is a guard: it skips the remaining checks if a map does not have a key.
func makeHas(args []string) (check, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("expected a key, received %q", args)
	}
	return func(_ *checker, now, _ document.Value) bool { return !isAbsentOrNull(now.Get(args[0])) }, nil
}

// makeWarnKey warns about a key of a map.
func makeWarnKey(args []string) (check, error) {
	if len(args) != 2 {
		return nil, fmt.Errorf("expected a key and the warning, received %q", args)
	}
	return func(c *checker, now, _ document.Value) bool {
		if !isAbsentOrNull(now.Get(args[0])) {
			c.addWarning(c.keyPath(args[0]) + ": " + args[1])
		}
		return true
	}, nil
}

// makeWarnNewKey warns about a key that the previous value does not have.
func makeWarnNewKey(args []string) (check, error) {
	warn, err := makeWarnKey(args)
	return func(c *checker, now, old document.Value) bool {
		return !isAbsentOrNull(old.Get(args[0])) || warn(c, now, old)
	}, err
}

// makeWarnDuplicate warns about a field value that an earlier item of the list has.
func makeWarnDuplicate(args []string) (check, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("expected the field, received %q", args)
	}
	return func(c *checker, now, _ document.Value) bool {
		if c.item > 0 && c.firstIndex(c.list, args[0], now.Text(), false) < c.item {
			c.warn(fmt.Sprintf("duplicate %s %q", args[0], now.Text()))
		}
		return true
	}, nil
}

// makeRecommendedLabel warns about names that are not DNS labels.
func makeRecommendedLabel(args []string) (check, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("expected the warning, received %q", args)
	}
	return func(c *checker, now, _ document.Value) bool {
		if problems := formats["dns-label"].check(now.Text()); len(problems) > 0 {
			c.warn(fmt.Sprintf("%s: %v", args[0], problems))
		}
		return true
	}, nil
}

// goWarnings are the checks of warnings that are Go functions, by their names in rules.
func goWarnings() map[string]func(c *checker, now, old document.Value) {
	return map[string]func(c *checker, now, old document.Value){
		"pod-name-start": podNameStart, "app-armor-annotations": warnAppArmor, "container-warnings": containerWarnings,
		"overlapping-paths": overlappingPaths, "whole-bytes": wholeBytes, "whole-storage": wholeStorage,
		"many-indexes": manyIndexes, "warn-schedule-zone": warnScheduleZone,

		"warn-deprecated-label": warnDeprecatedLabel, "warn-deprecated-label-key": warnDeprecatedLabelKey, "warn-deprecated-label-plain": warnDeprecatedLabelPlain, "warn-deprecated-match-labels": deprecatedMatchLabels,
		"warn-label-value": warnLabelValue, "warn-ip": warnIP, "warn-cidr": warnCIDR,
		"endpoints-warnings": endpointsWarnings, "slice-warnings": sliceWarnings,
		"quota-pairs": quotaPairs, "key-pair": keyPair, "reserved-name": reservedName, "lower-case-driver": lowerCaseDriver,
	}
}
