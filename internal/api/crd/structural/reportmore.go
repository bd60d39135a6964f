package structural

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
)

// reportCombinators adds the errors of a value in allOf, anyOf, oneOf and not. Ratcheting does not apply to these errors.
func (r *reporter) reportCombinators(n *node, v document.Value, path string) (matched int) {
	if len(n.anyOf) > 0 {
		matched += r.anyOf(n.anyOf, v, path)
	}
	if len(n.oneOf) > 0 {
		matched += r.oneOf(n.oneOf, v, path)
	}
	if len(n.allOf) > 0 {
		matched += r.allOf(n.allOf, v, path)
	}
	if n.not != nil && n.not.accepts(v) {
		r.invalidWithoutPath("%q must not validate the schema (not)", path)
	}
	return matched + 1
}

// trial is the result of checking a value with one schema of an allOf, anyOf or oneOf.
type trial struct {
	errs    field.ErrorList
	matched int
	done    bool
}

// tryNode returns the result of checking a value with a schema. It does not add the errors to r.
func (r *reporter) tryNode(n *node, v document.Value, path string) trial {
	separate := reporter{base: r.base}
	matched := separate.reportValue(n, v, path, previous{})
	return trial{separate.errs, matched, true}
}

// addTrial adds the errors of t to r, until r has maxErrors errors, and returns the number of successful checks of t.
func (r *reporter) addTrial(t trial) (matched int) {
	r.errs = append(r.errs, t.errs[:min(len(t.errs), maxErrors-len(r.errs))]...)
	return t.matched
}

// betterTrial returns whichever of best and t has more successful checks: best if the numbers are equal, and t if best is the
// zero value.
func betterTrial(best, t trial) trial {
	if !best.done || t.matched > best.matched {
		return t
	}
	return best
}

func (r *reporter) anyOf(nodes []*node, v document.Value, path string) int {
	var best trial
	for _, n := range nodes {
		t := r.tryNode(n, v, path)
		if len(t.errs) == 0 {
			return t.matched
		}
		best = betterTrial(best, t)
	}
	r.invalidWithoutPath("%q must validate at least one schema (anyOf)", path)
	return r.addTrial(best)
}

func (r *reporter) oneOf(nodes []*node, v document.Value, path string) int {
	var best, first trial
	valid := 0
	for _, n := range nodes {
		t := r.tryNode(n, v, path)
		switch {
		case len(t.errs) > 0 && valid == 0:
			best = betterTrial(best, t)
		case len(t.errs) == 0:
			valid++
			if !first.done {
				first = t
			}
		}
	}
	switch valid {
	case 1:
		return first.matched
	case 0:
		r.invalidWithoutPath("%q must validate one and only one schema (oneOf). Found none valid", path)
		return r.addTrial(best)
	}
	r.invalidWithoutPath("%q must validate one and only one schema (oneOf). Found %d valid alternatives", path, valid)
	return 0
}

func (r *reporter) allOf(nodes []*node, v document.Value, path string) (matched int) {
	valid := 0
	for _, n := range nodes {
		t := r.tryNode(n, v, path)
		if len(t.errs) == 0 {
			valid++
		}
		matched += r.addTrial(t)
	}
	if valid < len(nodes) {
		none := ""
		if valid == 0 {
			none = ". None validated"
		}
		r.invalidWithoutPath("%q must validate all the schemas (allOf)%s", path, none)
	}
	return matched
}

// reportNumber adds the errors of a number. As in kube-apiserver, a limit outside of the range of the schema's type causes an
// error for every value, and is compared with the value nevertheless.
func (r *reporter) reportNumber(l *numberLimits, q quantity, path string) {
	if !l.fits(q) {
		r.invalidWithoutPath("%s", l.rangeError("Checked", path))
	}
	if l.multipleOf != nil {
		r.multiple(l, q, path)
	}
	if l.minimum != nil {
		q, bound := r.bound(l, q, *l.minimum, "Minimum boundary", path)
		if isBelow(q, *l.minimum, l.exclusiveMinimum) {
			r.invalid(path, q.value(), "should be greater than %s%v", orEqual(l.exclusiveMinimum), bound)
		}
	}
	if l.maximum != nil {
		q, bound := r.bound(l, q, *l.maximum, "Maximum boundary", path)
		if exceeds(q, *l.maximum, l.exclusiveMax) {
			r.invalid(path, q.value(), "should be less than %s%v", orEqual(l.exclusiveMax), bound)
		}
	}
}

func orEqual(exclusive bool) string {
	if exclusive {
		return ""
	}
	return "or equal to "
}

// bound converts a number and a limit for comparison. If the limit is outside of the range of the schema's type, it adds an
// error and converts both to float64. limitName is the name of the limit in that error.
func (r *reporter) bound(l *numberLimits, q quantity, limit float64, limitName, path string) (quantity, any) {
	if !l.fits(quantity{f: limit}) {
		r.invalidWithoutPath("%s", l.rangeError(limitName, path))
		return quantity{f: q.f}, limit
	}
	if q.whole {
		return q, int64(limit)
	}
	return q, limit
}

func (r *reporter) multiple(l *numberLimits, q quantity, path string) {
	q, factor := r.bound(l, q, *l.multipleOf, "MultipleOf", path)
	if isMultiple(q, *l.multipleOf) {
		return
	}
	if i, whole := factor.(int64); whole && i <= 0 || *l.multipleOf <= 0 {
		r.add(path, field.ErrorTypeInvalid, factor, fmt.Sprintf("factor MultipleOf declared for %s must be positive: %v", path, factor))
		return
	}
	r.invalid(path, q.value(), "should be a multiple of %v", factor)
}
