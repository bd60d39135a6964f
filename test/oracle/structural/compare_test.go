package structural

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	apidefaulting "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	apijson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/crd/structural"
)

var (
	seed    = flag.Uint64("seed", 1, "where random schemas start")
	schemas = flag.Int("schemas", 1500, "how many random schemas are tried")
	objects = flag.Int("objects", 20, "how many objects are tried with each")
)

// TestCompare holds Read, Default, Validate and ValidateStatus against kube-apiserver's code.
func TestCompare(t *testing.T) {
	var tried tally
	for i := range *schemas {
		m := maker{rand.New(rand.NewPCG(*seed, uint64(i)))}
		schema := m.schema()
		text := jsonText(schema)
		theirs, refused, err := newUpstream(text)
		if err != nil {
			t.Fatalf("schema %d: %v\n%s", i, err, text)
		}
		if len(refused) > 0 {
			tried.refused++
			continue
		}
		ours, err := structural.Compile(parse(t, text), testOptions)
		if err != nil {
			t.Errorf("schema %d: %v\n%s", i, err, text)
			continue
		}
		c := comparison{t, ours, theirs, &tried, fmt.Sprintf("schema %d: %s", i, text)}
		for range *objects {
			c.history(m, schema)
			if t.Failed() {
				return
			}
		}
	}
	t.Logf("%+v", tried)
	tried.check(t)
}

// tally counts what was tried, so that a test that tries nothing is seen.
type tally struct{ refused, unreadable, right, wrong, updates, forgiven, warned, pruned, defaulted int }

func (c tally) check(t *testing.T) {
	t.Helper()
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		if v.Field(i).Int() == 0 {
			t.Errorf("nothing was %s", v.Type().Field(i).Name)
		}
	}
}

type comparison struct {
	t      *testing.T
	ours   *structural.Type
	theirs *upstream
	tried  *tally
	schema string
}

// history creates an object and updates it.
func (c *comparison) history(m maker, schema object) {
	first := m.thing(schema)
	obj, ok := c.read(first)
	if !ok {
		return
	}
	c.validate(obj, document.Value{}, false)
	next, ok := c.read(m.changedThing(first, schema))
	if !ok {
		return
	}
	c.tried.updates++
	c.validate(next, obj, false)
	c.validate(next, obj, true)
}

// read reads and defaults an object on both sides.
func (c *comparison) read(obj object) (document.Value, bool) {
	c.t.Helper()
	text := jsonText(obj)
	theirs := goValue(c.t, text)
	theirUnknown, theirErr := c.theirs.read(theirs)
	ours, unknown, err := c.ours.Decode(parse(c.t, text))
	if (err != nil) != (theirErr != nil) {
		c.t.Errorf("%s\nobject %s\nread: %v\nupstream: %v", c.schema, text, err, theirErr)
		return ours, false
	}
	if err != nil {
		c.tried.unreadable++
		c.compareErrors(text, err, theirErr)
		return ours, false
	}
	if !slices.Equal(unknown, theirUnknown) {
		c.t.Errorf("%s\nobject %s\nunknown  %q\nupstream %q", c.schema, text, unknown, theirUnknown)
	}
	c.compare("read", text, ours, theirs)
	if len(unknown) > 0 {
		c.tried.pruned++
	}
	filled := c.ours.Default(ours)
	apidefaulting.Default(theirs, c.theirs.schema)
	c.compare("defaulted", text, filled, theirs)
	if !document.Same(filled, ours) {
		c.tried.defaulted++
	}
	if again := c.ours.Default(filled); !document.Same(again, filled) {
		c.t.Errorf("%s\nobject %s\ndefaulted again: %s", c.schema, text, again)
	}
	return filled, true
}

// compareErrors compares what clients are told. There may be several things wrong, of which each side tells one.
func (c *comparison) compareErrors(text string, ours, theirs error) {
	if strings.HasPrefix(ours.Error(), theirs.Error()) || strings.HasPrefix(withoutHint(ours.Error()), theirs.Error()) {
		return
	}
	if c.theirsMaySay(text, ours) {
		return
	}
	c.t.Errorf("%s\nobject %s\nerror    %v\nupstream %v", c.schema, text, ours, theirs)
}

// theirsMaySay tells whether kube-apiserver, which walks maps in any order, tells the same at another time.
func (c *comparison) theirsMaySay(text string, ours error) bool {
	for range 200 {
		_, err := c.theirs.read(goValue(c.t, text))
		if err != nil && strings.HasPrefix(withoutHint(ours.Error()), err.Error()) {
			return true
		}
	}
	return false
}

// withoutHint leaves out what we tell beyond upstream's words, which is in parentheses at the end.
func withoutHint(s string) string {
	if i := strings.LastIndex(s, " ("); i >= 0 {
		return s[:i]
	}
	return s
}

func (c *comparison) compare(what, text string, ours document.Value, theirs object) {
	c.t.Helper()
	if got := goValue(c.t, ours.JSON()); !reflect.DeepEqual(withoutEmpty(got), withoutEmpty(theirs)) {
		c.t.Errorf("%s\nobject   %s\n%s     %s\nupstream %s", c.schema, text, what, jsonText(got), jsonText(theirs))
	}
}

// withoutEmpty leaves out what Go drops when it writes metadata, and we keep.
func withoutEmpty(v any) any {
	switch v := v.(type) {
	case object:
		c := object{}
		for name, value := range v {
			if name == "metadata" {
				value = dropEmpty(value)
			}
			c[name] = withoutEmpty(value)
		}
		return c
	case []any:
		c := []any{}
		for _, item := range v {
			c = append(c, withoutEmpty(item))
		}
		return c
	}
	return v
}

func dropEmpty(v any) any {
	metadata, ok := v.(object)
	if !ok {
		return v
	}
	c := object{}
	for name, value := range metadata {
		switch value := value.(type) {
		case nil:
			continue
		case object:
			if len(value) == 0 {
				continue
			}
		case []any:
			if len(value) == 0 {
				continue
			}
		}
		c[name] = value
	}
	return c
}

// validate validates an object, or an update, on both sides.
func (c *comparison) validate(obj, old document.Value, status bool) {
	c.t.Helper()
	var was object
	if !old.IsAbsent() {
		was = goValue(c.t, old.JSON())
	}
	theirErrs, theirWarnings := c.theirs.validate(goValue(c.t, obj.JSON()), was, status)
	check := c.ours.Check
	if status {
		check = c.ours.CheckStatus
	}
	errs, warnings := check(obj, old)
	if got, want := errorTexts(errs), errorTexts(theirErrs); !slices.Equal(got, want) {
		c.t.Errorf("%s\nobject %s\nold    %s\nstatus %v\nerrors\n  %s\nupstream\n  %s", c.schema, obj, old, status, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
	slices.Sort(warnings)
	slices.Sort(theirWarnings)
	if !slices.Equal(warnings, theirWarnings) {
		c.t.Errorf("%s\nobject %s\nold    %s\nwarnings %q\nupstream %q", c.schema, obj, old, warnings, theirWarnings)
	}
	c.count(obj, old, errs, warnings)
}

func (c *comparison) count(obj, old document.Value, errs field.ErrorList, warnings []string) {
	if len(errs) == 0 {
		c.tried.right++
	} else {
		c.tried.wrong++
	}
	if len(warnings) > 0 {
		c.tried.warned++
	}
	if !old.IsAbsent() && len(errs) < len(c.ours.Validate(obj, document.Value{})) {
		c.tried.forgiven++
	}
}

func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // it is of our making
	}
	return string(text)
}

func goValue(t testing.TB, text string) object {
	var v object
	if err := apijson.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func clone(v any) any {
	var c any
	if err := json.Unmarshal([]byte(jsonText(v)), &c); err != nil {
		panic(err) // it was written by us
	}
	return c
}
