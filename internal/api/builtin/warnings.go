package builtin

import (
	"fmt"

	"github.com/cadastre/cadastre/document"
)

// Warnings returns the same warnings as kube-apiserver about a valid object. old is the live object, or absent on create. It
// does not allocate memory if there are no warnings.
func (t *Type) Warnings(obj, old document.Value) []string {
	return t.warnings(ruleset().warnings[t], obj, old)
}

// StatusWarnings returns the same warnings as kube-apiserver about an update of the status.
func (t *Type) StatusWarnings(obj, live document.Value) []string {
	return t.warnings(ruleset().statusWarnings[t], obj, live)
}

// RequestWarnings returns the warnings about the object of a create request that depend on fields that Prepare replaces, such
// as deprecated annotations. Call it before the object is prepared.
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

// maxWarnings is the maximum number of warnings about one object. Further warnings would have no effect, because the warnings
// of a response are truncated at 4,096 characters, and every warning has at least 16 characters.
const maxWarnings = 256

// warn adds a warning that begins with the path of the field below the current path.
func (c *checker) warn(text string, below ...string) {
	if !c.hasMaxWarnings() {
		c.addWarning(c.fieldPath(below...) + ": " + text)
	}
}

// addWarning adds a warning without a path, unless maxWarnings is reached.
func (c *checker) addWarning(text string) {
	if !c.hasMaxWarnings() {
		c.warnings = append(c.warnings, text)
	}
}

func (c *checker) hasMaxWarnings() bool { return len(c.warnings) >= maxWarnings }

// keyPath returns the path of a key of the map below the current path.
func (c *checker) keyPath(key string, below ...string) string {
	return c.fieldPath(below...) + "[" + key + "]"
}

// warningChecks returns the factories of the checks that add warnings.
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

// warning returns a checkFactory for a check that adds a warning with the current path if predicate returns true for the value.
func warning(predicate func(document.Value) bool) checkFactory {
	return newDetailCheck("", func(c *checker, v document.Value, detail string) bool {
		if predicate(v) {
			c.warn(detail)
		}
		return true
	})
}

// plainWarning returns a checkFactory for a check that adds a warning without a path if predicate returns true for the value.
func plainWarning(predicate func(document.Value) bool) checkFactory {
	return newDetailCheck("", func(c *checker, v document.Value, detail string) bool {
		if predicate(v) {
			c.addWarning(detail)
		}
		return true
	})
}

// makeOld returns a check that applies the rules of the block that its argument names to the value before the update.
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

// makeHas returns a check that skips the remaining checks of the statement if a map does not contain the key in its argument.
func makeHas(args []string) (check, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("expected a key, received %q", args)
	}
	return func(_ *checker, value, _ document.Value) bool { return !isAbsentOrNull(value.Get(args[0])) }, nil
}

// makeWarnKey returns a check that adds a warning if a map contains a key. The arguments are the key and the warning.
func makeWarnKey(args []string) (check, error) {
	if len(args) != 2 {
		return nil, fmt.Errorf("expected a key and the warning, received %q", args)
	}
	return func(c *checker, value, _ document.Value) bool {
		if !isAbsentOrNull(value.Get(args[0])) {
			c.addWarning(c.keyPath(args[0]) + ": " + args[1])
		}
		return true
	}, nil
}

// makeWarnNewKey returns a check that adds a warning if a map contains a key that it did not contain before the update. The
// arguments are the key and the warning.
func makeWarnNewKey(args []string) (check, error) {
	warn, err := makeWarnKey(args)
	return func(c *checker, value, old document.Value) bool {
		return !isAbsentOrNull(old.Get(args[0])) || warn(c, value, old)
	}, err
}

// makeWarnDuplicate returns a check that adds a warning if an earlier item of the list has an equal value in the field that its
// argument names.
func makeWarnDuplicate(args []string) (check, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("expected the field, received %q", args)
	}
	return func(c *checker, value, _ document.Value) bool {
		if c.item > 0 && c.firstIndex(c.list, args[0], value.Text(), false) < c.item {
			c.warn(fmt.Sprintf("duplicate %s %q", args[0], value.Text()))
		}
		return true
	}, nil
}

// makeRecommendedLabel returns a check that adds the warning in its argument if a name is not a DNS label.
func makeRecommendedLabel(args []string) (check, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("expected one argument, the text of the warning; received %q", args)
	}
	return func(c *checker, value, _ document.Value) bool {
		if problems := formats["dns-label"].check(value.Text()); len(problems) > 0 {
			c.warn(fmt.Sprintf("%s: %v", args[0], problems))
		}
		return true
	}, nil
}

// goWarnings returns the checks that add warnings and are Go functions, by their names in rules.
func goWarnings() map[string]func(c *checker, value, old document.Value) {
	return map[string]func(c *checker, value, old document.Value){
		"pod-name-start": warnPodNameStart, "app-armor-annotations": warnAppArmor, "container-warnings": warnContainers,
		"overlapping-paths": warnOverlappingPaths, "whole-bytes": warnWholeBytes, "whole-storage": warnWholeStorage,
		"many-indexes": warnManyIndexes, "warn-schedule-zone": warnScheduleZone,

		"warn-deprecated-label": warnDeprecatedLabel, "warn-deprecated-label-key": warnDeprecatedLabelKey, "warn-deprecated-label-plain": warnDeprecatedLabelPlain, "warn-deprecated-match-labels": warnDeprecatedMatchLabels,
		"warn-label-value": warnLabelValue, "warn-ip": warnIP, "warn-cidr": warnCIDR,
		"endpoints-warnings": warnEndpoints, "slice-warnings": warnSlice,
		"quota-pairs": warnQuotaPairs, "key-pair": warnKeyPair, "reserved-name": warnReservedName, "lower-case-driver": warnLowerCaseDriver,
	}
}
