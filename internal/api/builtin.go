package api

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/internal/api/builtin/kinds"
)

// Builtin returns all built-in kinds. Each call returns new values, which the caller may modify.
func Builtin() []*Kind {
	all, err := newKinds(kinds.Builtin())
	if err != nil {
		panic(err) // unreachable: the kind files are embedded, and a test parses all of them
	}
	return all
}

// newKinds returns the kinds that the kind files in set declare. The error joins the errors of all invalid declarations.
func newKinds(set *kinds.Set) (all []*Kind, err error) {
	var errs []error
	for _, d := range set.Kinds {
		k, err := newKind(d)
		all, errs = append(all, k), append(errs, err)
	}
	return all, errors.Join(errs...)
}

// coreGroup is the name of the core group in kind files and store keys; in the API its name is empty.
const coreGroup = kinds.CoreGroup

func newKind(d *kinds.Declaration) (*Kind, error) {
	k := &Kind{
		Group: d.Group(), Name: d.Name, Versions: d.Property("versions").Words(),
		Resource: d.Property("plural").Value, SingularName: d.Property("singular").Value,
		ShortNames: d.Property("short names").Words(), Categories: d.Property("categories").Words(),
		StoredAt: d.Property("stored as").Value, AlsoServedAt: d.Property("also served as").Value,
		sharedStruct: d.Property("fields of").Value,
	}
	var errs []error
	for _, name := range []string{"group", "versions", "scope", "plural"} {
		if d.Property(name).Value == "" {
			errs = append(errs, d.Errorf(d.Line, "expected the property %q", name))
		}
	}
	for _, p := range []struct {
		name string
		set  func(words []string, value string) error
	}{
		{"deprecated", k.setDeprecated},
		{"scope", k.setScope},
		{"verbs", k.setVerbs},
		{"acts on", k.setActsOn},
		{"subresources", k.setSubresources},
		{"generation", k.setGeneration},
		{"pod spec", k.setPodSpec},
		{"traits", k.setTraits},
	} {
		property := d.Property(p.name)
		if property.Value == "" {
			continue
		}
		if err := p.set(property.Words(), property.Value); err != nil {
			errs = append(errs, d.Errorf(property.Line, "%s: %w", p.name, err))
		}
	}
	errs = append(errs, k.setStrategy(d), k.setSelectableFields(d), k.setResetFields(d), k.setDisabledFields(d))
	return k, errors.Join(errs...)
}

// setDeprecated sets Deprecated from value, the value of the property "deprecated", whose syntax is VERSION "WARNING" [removed
// in RELEASE].
func (k *Kind) setDeprecated(words []string, value string) error {
	rest := strings.TrimSpace(strings.TrimPrefix(value, words[0]))
	quoted, err := strconv.QuotedPrefix(rest)
	if err != nil || !k.HasVersion(words[0]) {
		return errExpected(`VERSION "WARNING" [removed in RELEASE]`, value)
	}
	warning, _ := strconv.Unquote(quoted)
	removed, isRemoved := strings.CutPrefix(rest[len(quoted):], " removed in ")
	if !isRemoved && rest != quoted {
		return errExpected(`VERSION "WARNING" [removed in RELEASE]`, value)
	}
	k.Deprecated = map[string]Deprecation{words[0]: {Warning: warning, Removed: removed}}
	return nil
}

func (k *Kind) setScope(_ []string, value string) error {
	k.Namespaced = value == "namespaced"
	if !k.Namespaced && value != "cluster" {
		return errExpected("namespaced or cluster", value)
	}
	return nil
}

func (k *Kind) setVerbs(_ []string, value string) error {
	k.CreateOnly = value == "create"
	if !k.CreateOnly {
		return errExpected("create, or no verbs for all of them", value)
	}
	return nil
}

func (k *Kind) setActsOn(_ []string, value string) error {
	resource, subresource, _ := strings.Cut(value, "/")
	if resource == "" || subresource == "" || !k.CreateOnly {
		return errExpected("RESOURCE/SUBRESOURCE of a kind with verbs: create", value)
	}
	k.ActsOn = value
	return nil
}

func (k *Kind) setSubresources(words []string, _ string) error {
	k.Subresources = slices.Sorted(slices.Values(words))
	return nil
}

// setGeneration sets Generation from value, the value of the property "generation", whose syntax is "from NUMBER|request [on
// change of PATH…]".
func (k *Kind) setGeneration(words []string, value string) (err error) {
	hasPaths := len(words) > 5 && slices.Equal(words[2:5], []string{"on", "change", "of"})
	if words[0] != "from" || len(words) != 2 && !hasPaths {
		return errExpected("from NUMBER|request [on change of PATH…]", value)
	}
	if words[1] != "request" {
		if k.Generation.First, err = strconv.ParseInt(words[1], 10, 64); err != nil {
			return errExpected("from NUMBER|request", value)
		}
	}
	if hasPaths {
		for _, path := range words[5:] {
			k.Generation.Counted = append(k.Generation.Counted, strings.Split(path, "."))
		}
	}
	return nil
}

func (k *Kind) setPodSpec(_ []string, value string) error {
	k.podSpec = strings.Split(value, ".")
	return nil
}

func errExpected(expected, received string) error {
	return fmt.Errorf("expected %s, received %q", expected, received)
}
