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
	seed    = flag.Uint64("seed", 1, "`seed` of the random schemas")
	schemas = flag.Int("schemas", 1500, "`number` of random schemas")
	objects = flag.Int("objects", 20, "`number` of objects per schema")
)

// TestCompare compares Cadastre's Read, Default, Validate and ValidateStatus with kube-apiserver's code.
func TestCompare(t *testing.T) {
	var counts tally
	for i := range *schemas {
		m := maker{rand.New(rand.NewPCG(*seed, uint64(i)))}
		schema := m.schema()
		text := jsonText(schema)
		upstream, refused, err := newUpstream(text)
		if err != nil {
			t.Fatalf("schema %d: %v\n%s", i, err, text)
		}
		if len(refused) > 0 {
			counts.rejected++
			continue
		}
		cadastre, err := structural.Compile(parse(t, text), testOptions)
		if err != nil {
			t.Errorf("schema %d: %v\n%s", i, err, text)
			continue
		}
		c := comparison{t, cadastre, upstream, &counts, fmt.Sprintf("schema %d: %s", i, text)}
		for range *objects {
			c.history(m, schema)
			if t.Failed() {
				return
			}
		}
	}
	t.Logf("%+v", counts)
	counts.check(t)
}

// tally counts the cases by outcome. The test fails if an outcome does not occur, because it would not be covered.
type tally struct{ rejected, unreadable, valid, invalid, updates, ratcheted, warned, pruned, defaulted int }

func (c tally) check(t *testing.T) {
	t.Helper()
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		if v.Field(i).Int() == 0 {
			t.Errorf("no random case was %s, want 1 or more; increase -schemas or -objects", v.Type().Field(i).Name)
		}
	}
}

type comparison struct {
	t        *testing.T
	cadastre *structural.Type
	upstream *upstream
	counts   *tally
	schema   string
}

// history compares how both implementations validate the creation and an update of a random object.
func (c *comparison) history(m maker, schema object) {
	first := m.customObject(schema)
	obj, ok := c.read(first)
	if !ok {
		return
	}
	c.validate(obj, document.Value{}, false)
	next, ok := c.read(m.changedObject(first, schema))
	if !ok {
		return
	}
	c.counts.updates++
	c.validate(next, obj, false)
	c.validate(next, obj, true)
}

// read compares how both implementations read and default obj. It returns Cadastre's result, and false if one of the
// two rejects obj.
func (c *comparison) read(obj object) (document.Value, bool) {
	c.t.Helper()
	text := jsonText(obj)
	upstream := goValue(c.t, text)
	upstreamUnknown, upstreamErr := c.upstream.read(upstream)
	cadastre, unknown, err := c.cadastre.Decode(parse(c.t, text))
	if (err != nil) != (upstreamErr != nil) {
		c.t.Errorf("%s\nobject %s\ngot error  %v\nwant error %v as kube-apiserver", c.schema, text, err, upstreamErr)
		return cadastre, false
	}
	if err != nil {
		c.counts.unreadable++
		c.compareErrors(text, err, upstreamErr)
		return cadastre, false
	}
	if !slices.Equal(unknown, upstreamUnknown) {
		c.t.Errorf("%s\nobject %s\ngot unknown fields  %q\nwant unknown fields %q as kube-apiserver", c.schema, text, unknown, upstreamUnknown)
	}
	c.compare("read", text, cadastre, upstream)
	if len(unknown) > 0 {
		c.counts.pruned++
	}
	filled := c.cadastre.Default(cadastre)
	apidefaulting.Default(upstream, c.upstream.schema)
	c.compare("defaulted", text, filled, upstream)
	if !document.Same(filled, cadastre) {
		c.counts.defaulted++
	}
	if again := c.cadastre.Default(filled); !document.Same(again, filled) {
		c.t.Errorf("%s\nobject %s\na second Default() changed the object to %s, want no change", c.schema, text, again)
	}
	return filled, true
}

// compareErrors compares the error messages for the object text. If the object has several errors, Cadastre may report
// any of those that kube-apiserver can report.
func (c *comparison) compareErrors(text string, cadastre, upstream error) {
	if strings.HasPrefix(cadastre.Error(), upstream.Error()) || strings.HasPrefix(withoutHint(cadastre.Error()), upstream.Error()) {
		return
	}
	if c.upstreamMayReport(text, cadastre) {
		return
	}
	c.t.Errorf("%s\nobject %s\ngot error  %v\nwant error %v as kube-apiserver", c.schema, text, cadastre, upstream)
}

// upstreamMayReport reports whether kube-apiserver can report Cadastre's error. upstreamMayReport calls
// kube-apiserver's code repeatedly, because that iterates over maps in random order.
func (c *comparison) upstreamMayReport(text string, cadastre error) bool {
	for range 200 {
		_, err := c.upstream.read(goValue(c.t, text))
		if err != nil && strings.HasPrefix(withoutHint(cadastre.Error()), err.Error()) {
			return true
		}
	}
	return false
}

// withoutHint removes the hint in parentheses that Cadastre adds at the end of kube-apiserver's message.
func withoutHint(s string) string {
	if i := strings.LastIndex(s, " ("); i >= 0 {
		return s[:i]
	}
	return s
}

func (c *comparison) compare(what, text string, cadastre document.Value, upstream object) {
	c.t.Helper()
	if got := goValue(c.t, cadastre.JSON()); !reflect.DeepEqual(withoutEmpty(got), withoutEmpty(upstream)) {
		c.t.Errorf("%s\nobject %s\n%s: got %s\nwant %s as kube-apiserver", c.schema, text, what, jsonText(got), jsonText(upstream))
	}
}

// withoutEmpty removes empty values of metadata, which Go omits when it encodes metadata, and which Cadastre retains.
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

// validate compares how both implementations validate the creation of obj or, if old is not absent, an update from old
// to obj. If status is set, it is an update of the status.
func (c *comparison) validate(obj, old document.Value, status bool) {
	c.t.Helper()
	var was object
	if !old.IsAbsent() {
		was = goValue(c.t, old.JSON())
	}
	upstreamErrs, upstreamWarnings := c.upstream.validate(goValue(c.t, obj.JSON()), was, status)
	check := c.cadastre.Check
	if status {
		check = c.cadastre.CheckStatus
	}
	errs, warnings := check(obj, old)
	if got, want := errorTexts(errs), errorTexts(upstreamErrs); !slices.Equal(got, want) {
		c.t.Errorf("%s\nobject %s\nold    %s\nstatus %v\ngot errors\n  %s\nwant errors as kube-apiserver\n  %s", c.schema, obj, old, status, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
	slices.Sort(warnings)
	slices.Sort(upstreamWarnings)
	if !slices.Equal(warnings, upstreamWarnings) {
		c.t.Errorf("%s\nobject %s\nold    %s\ngot warnings  %q\nwant warnings %q as kube-apiserver", c.schema, obj, old, warnings, upstreamWarnings)
	}
	c.count(obj, old, errs, warnings)
}

func (c *comparison) count(obj, old document.Value, errs field.ErrorList, warnings []string) {
	if len(errs) == 0 {
		c.counts.valid++
	} else {
		c.counts.invalid++
	}
	if len(warnings) > 0 {
		c.counts.warned++
	}
	if !old.IsAbsent() && len(errs) < len(c.cadastre.Validate(obj, document.Value{})) {
		c.counts.ratcheted++
	}
}

func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // cannot fail: the value is built from types that can be encoded
	}
	return string(text)
}

func goValue(t testing.TB, text string) object {
	var v object
	if err := apijson.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("parsing %s: %v", text, err)
	}
	return v
}

func clone(v any) any {
	var c any
	if err := json.Unmarshal([]byte(jsonText(v)), &c); err != nil {
		panic(err) // cannot fail: the text was written by jsonText
	}
	return c
}
