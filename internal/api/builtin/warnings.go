package builtin

import (
	"fmt"

	"github.com/cadastre/cadastre/document"
)

// Warnings returns what the client should know about an object that is right, as kube-apiserver words it. When
// an object is created, old is absent; otherwise it is the live object. Where there is nothing to say, nothing is
// allocated.
func (t *Type) Warnings(obj, old document.Value) []string {
	return t.warnings(ruleset().warnings[t], obj, old)
}

// StatusWarnings does the same for a write to an object's status.
func (t *Type) StatusWarnings(obj, live document.Value) []string {
	return t.warnings(ruleset().statusWarnings[t], obj, live)
}

// SentWarnings returns what the client should know about what it sent to make an object, though it may not be right:
// preparing an object makes fields of what should be none by now.
func (t *Type) SentWarnings(obj document.Value) []string {
	return t.warnings(ruleset().requestWarnings[t], obj, document.Value{})
}

func (t *Type) warnings(b *block, obj, old document.Value) []string {
	if b == nil {
		return nil
	}
	c := checkers.Get().(*checker)
	c.kind, c.updating = t, !isNothing(old)
	c.run(b, obj, old)
	found := c.warnings
	c.reset()
	checkers.Put(c)
	return found
}

// mostWarnings is how many are found: what is sent is cut off after 4,096 characters, and none is as short as 16.
const mostWarnings = 256

// warn says something about a place below this one.
func (c *checker) warn(text string, below ...string) {
	if !c.hasSaidEnough() {
		c.say(c.place(below...) + ": " + text)
	}
}

// say says something.
func (c *checker) say(text string) {
	if !c.hasSaidEnough() {
		c.warnings = append(c.warnings, text)
	}
}

func (c *checker) hasSaidEnough() bool { return len(c.warnings) >= mostWarnings }

// keyed returns the place of a key of a map below this one.
func (c *checker) keyed(key string, below ...string) string {
	return c.place(below...) + "[" + key + "]"
}

// warningChecks are the checks that only warnings name and that are told more.
func warningChecks() map[string]maker {
	return map[string]maker{
		"warn":              warning(isGiven),
		"warn-unset":        warning(isNothing),
		"warn-empty":        warning(func(v document.Value) bool { return v.Text() == "" }),
		"below-zero":        warning(func(v document.Value) bool { return number(v) < 0 }),
		"say":               saying(func(document.Value) bool { return true }),
		"say-given":         saying(isGiven),
		"has":               makeHas,
		"warn-key":          makeWarnKey,
		"warn-new-key":      makeWarnNewKey,
		"warn-duplicate":    makeWarnDuplicate,
		"recommended-label": makeRecommendedLabel,
	}
}

// warning makes a check that says something about values of a sort.
func warning(of func(document.Value) bool) maker {
	return detailed("", func(c *checker, v document.Value, detail string) bool {
		if of(v) {
			c.warn(detail)
		}
		return true
	})
}

// saying does the same without the place.
func saying(of func(document.Value) bool) maker {
	return detailed("", func(c *checker, v document.Value, detail string) bool {
		if of(v) {
			c.say(detail)
		}
		return true
	})
}

// makeWas runs the rules of a type on what was there before.
func (book *rulebook) makeWas(args []string) (check, error) {
	if len(args) != 1 || book.blocks[args[0]] == nil {
		return nil, fmt.Errorf("expected a type, received %q", args)
	}
	used := book.blocks[args[0]]
	return func(c *checker, _, old document.Value) bool {
		if !isNothing(old) {
			c.run(used, old, document.Value{})
		}
		return true
	}, nil
}

// makeHas is a guard: the line ends if a map does not have a key.
func makeHas(args []string) (check, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("expected a key, received %q", args)
	}
	return func(_ *checker, now, _ document.Value) bool { return !isNothing(now.Get(args[0])) }, nil
}

// makeWarnKey warns of a key of a map.
func makeWarnKey(args []string) (check, error) {
	if len(args) != 2 {
		return nil, fmt.Errorf("expected a key and what is to be said about it, received %q", args)
	}
	return func(c *checker, now, _ document.Value) bool {
		if !isNothing(now.Get(args[0])) {
			c.say(c.keyed(args[0]) + ": " + args[1])
		}
		return true
	}, nil
}

// makeWarnNewKey warns of a key that was not there before.
func makeWarnNewKey(args []string) (check, error) {
	warn, err := makeWarnKey(args)
	return func(c *checker, now, old document.Value) bool {
		return !isNothing(old.Get(args[0])) || warn(c, now, old)
	}, err
}

// makeWarnDuplicate warns of a field's text that an item before this one in the list has too.
func makeWarnDuplicate(args []string) (check, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("expected the field, received %q", args)
	}
	return func(c *checker, now, _ document.Value) bool {
		if c.item > 0 && c.first(c.list, args[0], now.Text(), false) < c.item {
			c.warn(fmt.Sprintf("duplicate %s %q", args[0], now.Text()))
		}
		return true
	}, nil
}

// makeRecommendedLabel warns of names that are no labels of DNS.
func makeRecommendedLabel(args []string) (check, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("expected the words, received %q", args)
	}
	return func(c *checker, now, _ document.Value) bool {
		if problems := formats["dns-label"].check(now.Text()); len(problems) > 0 {
			c.warn(fmt.Sprintf("%s: %v", args[0], problems))
		}
		return true
	}, nil
}

// irregularWarnings are the checks that only warnings name, and that are code: each is one of a kind.
func irregularWarnings() map[string]func(c *checker, now, old document.Value) {
	return map[string]func(c *checker, now, old document.Value){
		"pod-name-start": podNameStart, "app-armor-annotations": warnAppArmor, "container-warnings": containerWarnings,
		"overlapping-paths": overlappingPaths, "whole-bytes": wholeBytes, "whole-storage": wholeStorage,
		"many-indexes": manyIndexes, "zone-in-schedule": zoneInSchedule,

		"old-label": oldLabel, "old-label-key": oldLabelKey, "old-label-plain": oldLabelPlain, "old-match-labels": oldMatchLabels,
		"odd-label-value": oddLabelValue, "odd-ip": oddIP, "odd-cidr": oddCIDR,
		"endpoints-warnings": endpointsWarnings, "slice-warnings": sliceWarnings,
		"quota-pairs": quotaPairs, "key-pair": keyPair, "reserved-name": reservedName, "lower-case-driver": lowerCaseDriver,
	}
}
