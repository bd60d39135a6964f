package builtin

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
)

// structRules returns the rules of t, a struct, that depend on several fields: unions and modes. tags are the tags of the
// fields.
func (d *declarations) structRules(t *Type, tags map[string][]tag) (rules []tagRule, err error) {
	union, unionLevel := tagUnion{none: "must specify one of: ", several: "must specify exactly one of: ", origin: originUnion}, tagAlpha
	for _, f := range inGoOrder(t) {
		for _, tag := range tags[f.Name] {
			switch tag.name {
			case "unionMember":
				union.members = append(union.members, unionFieldMember(f))
				unionLevel = tag.level
			case "dependentRequired", "dependentForbidden":
				if tag.level != tagAlpha {
					return nil, fmt.Errorf("%s: expected the tag %s at the level alpha; implement it", f.Name, tag.name)
				}
			}
		}
	}
	if len(union.members) > 0 && unionLevel != tagAlpha {
		rules = append(rules, tagRule{unionLevel, union.check})
	}
	modes, err := d.modeRules(t, tags)
	return append(rules, modes...), err
}

// tagUnion limits the number of members that are set.
type tagUnion struct {
	members []tagUnionMember
	// none and several are the error details, which the members follow. An empty detail allows the case.
	none, several string
	origin        string
}

// tagUnionMember is a member of a union: a field of a struct, or an item of a list.
type tagUnionMember struct {
	name  string
	isSet func(v document.Value) bool
}

func unionFieldMember(f Field) tagUnionMember {
	return tagUnionMember{f.Name, func(v document.Value) bool { return !isDeclaredZero(f.Type, f.Pointer, v.Get(f.Name)) }}
}

// check validates v, a struct or a list. An update that sets the same members as before has no error.
func (u *tagUnion) check(c *checker, v revision) bool {
	var set []string
	changed := false
	for _, m := range u.members {
		isSet := m.isSet(v.value)
		changed = changed || isSet != m.isSet(v.old)
		if isSet {
			set = append(set, m.name)
		}
	}
	switch {
	case c.updating && v.correlated && !isAbsentOrNull(v.old) && !changed:
		return true
	case len(set) > 1:
		return c.failDeclared(field.Invalid(nil, "{"+strings.Join(set, ", ")+"}", u.several+u.names()).WithOrigin(u.origin))
	case len(set) == 0 && u.none != "":
		return c.failDeclared(field.Invalid(nil, "", u.none+u.names()).WithOrigin(u.origin))
	}
	return true
}

func (u *tagUnion) names() string {
	var names []string
	for _, m := range u.members {
		names = append(names, "`"+m.name+"`")
	}
	return strings.Join(names, ", ")
}

// itemRules returns the rule of the tags item(FIELD: VALUE)=zeroOrOneOfMember of f, a list; none if it has no such tags.
func itemRules(f *declaredField, tags []tag) (rules []tagRule, err error) {
	union, level := &tagUnion{several: "must specify at most one of: ", origin: originZeroOrOne}, tagAlpha
	for _, t := range tags {
		if t.name != "item" {
			continue
		}
		key, quoted, _ := strings.Cut(t.argument, ": ")
		value, err := strconv.Unquote(quoted)
		if err != nil || t.value != "zeroOrOneOfMember" {
			return nil, fmt.Errorf("expected item(FIELD: \"VALUE\")=zeroOrOneOfMember, received item(%s)=%s", t.argument, t.value)
		}
		level = t.level
		union.members = append(union.members, tagUnionMember{
			name: fmt.Sprintf("%s[{%q: %s}]", f.name, key, quoted),
			isSet: func(list document.Value) bool {
				for i := range list.Len() {
					if list.At(i).Get(key).Text() == value {
						return true
					}
				}
				return false
			},
		})
	}
	if len(union.members) > 0 {
		rules = append(rules, tagRule{level, union.check})
	}
	return rules, nil
}

// modeRules returns a rule for each field of t with the tag ifMode(MODE)=TAG. It validates the field with TAG if the field with
// the tag modeDiscriminator has the value MODE, and forbids it in other modes.
func (d *declarations) modeRules(t *Type, tags map[string][]tag) (rules []tagRule, err error) {
	mode := ""
	var members []Field
	for _, f := range t.Fields { // kube-apiserver validates the members sorted by name
		switch has := func(name string) bool {
			return slices.ContainsFunc(tags[f.Name], func(t tag) bool { return t.name == name })
		}; {
		case has("modeDiscriminator"):
			mode = f.Name
		case has("ifMode"):
			members = append(members, f)
		}
	}
	for _, f := range members {
		rule, err := d.modeRule(mode, f, tags[f.Name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

func (d *declarations) modeRule(mode string, f Field, tags []tag) (rule tagRule, err error) {
	member := &declaredField{name: f.Name, typ: f.Type, pointer: f.Pointer}
	inMode := map[string]tagCheck{}
	for _, t := range tags {
		if t.name != "ifMode" {
			continue
		}
		value, err := strconv.Unquote(t.argument)
		if err != nil {
			return rule, fmt.Errorf("expected a mode in quotes, received %s", t.argument)
		}
		if inMode[value], err = d.valueCheck(member, t); err != nil {
			return rule, err
		}
		rule.level = t.level
	}
	forbidden, err := makeTagForbidden(member, tag{})
	rule.check = func(c *checker, v revision) bool {
		now, of := v.value.Get(mode).Text(), v.field(f.Name)
		if c.updating && v.correlated && now == v.old.Get(mode).Text() && semanticEqual(f.Type, f.Pointer, of.value, of.old) {
			return true
		}
		check, ok := inMode[now]
		if !ok {
			check = forbidden
		}
		c.push(f.Name)
		defer c.pop()
		return check(c, of)
	}
	return rule, err
}
