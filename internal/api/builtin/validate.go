package builtin

import (
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission/plugin/cel"

	"github.com/cadastre/cadastre/document"
)

// Validate returns what is wrong with an object of this type, which must be that of a built-in
// kind: nothing is known about others. The object has been read and its defaults are set. When
// an object is created, old is absent; otherwise it is the live object, and what must not change
// is checked too. Errors are those of kube-apiserver, in its order.
func (t *Type) Validate(obj, old document.Value) field.ErrorList {
	return t.validate(ruleset().kinds[t], obj, old)
}

// statusSubresource is the subresource that every kind with a status has rules for.
const statusSubresource = "status"

// ValidateSubresource returns the errors of a write to a subresource whose bodies are the objects themselves. The object has
// all fields from the live one already that such a write does not change. A subresource without rules has no errors.
func (t *Type) ValidateSubresource(name string, obj, live document.Value) field.ErrorList {
	return t.validate(ruleset().subresources[name][t], obj, live)
}

func (t *Type) validate(b *block, obj, old document.Value) field.ErrorList {
	if b == nil {
		return nil
	}
	c := checkers.Get().(*checker)
	book := ruleset()
	c.kind, c.blocks, c.namespaced, c.updating = t, book.blocks, book.kinds[t].namespaced, !isNothing(old)
	errs := c.object(b, obj, old)
	c.reset()
	checkers.Put(c)
	return errs
}

var checkers = sync.Pool{New: func() any { return new(checker) }}

// checker is one validation under way. Errors are at where it is, unless it reports elsewhere:
// some places of kube-apiserver are not those of the fields.
type checker struct {
	kind                 *Type
	blocks               map[string]*block // for checks that are code, and look at parts by their rules
	namespaced, updating bool
	errs                 field.ErrorList
	warnings             []string
	where                []step
	// A statement may report at a place of its own, which starts from the place of its block.
	elsewhere []step
	base      int
	// scopes are the blocks that are being run, from the outermost.
	scopes []scope
	// list is the list that the innermost item is in, and item its number there.
	list document.Value
	item int
	// faulty are the parts that were found wrong: nothing may refer to them.
	faulty map[document.Value]bool
	places map[placesOf]map[string]int
	// composed compiles the expressions of a policy that has variables; nil until one is compiled.
	composed *cel.CompositedCompiler
}

// scope is a block that is being run, and on what.
type scope struct {
	block    *block
	now, old document.Value
}

// step is one step of a path: a field, an item or a key of a map. up steps back.
type step struct {
	name  string
	index int
	kind  stepKind
}

type stepKind uint8

const (
	stepField stepKind = iota
	stepItem           // in rules: every item
	stepKey            // in rules: every key
	stepUp             // only in places to report at
)

// object runs the rules of a kind in the order in which kube-apiserver does: for an update, what
// holds for all kinds comes first.
func (c *checker) object(b *block, obj, old document.Value) field.ErrorList {
	if c.updating {
		c.push("metadata")
		c.writtenMeta(obj.Get("metadata"), pathSegment)
		c.updatedMeta(obj.Get("metadata"), old.Get("metadata"))
		c.pop()
	}
	c.run(b, obj, old)
	if !c.updating && !b.checksNames && !b.review && len(c.errs) == 0 {
		c.push("metadata")
		c.writtenMeta(obj.Get("metadata"), pathSegment)
		c.pop()
	}
	return c.errs
}

// reset makes the checker fit for another object: it keeps its memory, but nothing of this one.
func (c *checker) reset() {
	clear(c.where[:cap(c.where)])
	clear(c.scopes[:cap(c.scopes)])
	*c = checker{where: c.where[:0], scopes: c.scopes[:0]}
}

func (c *checker) push(name string) { c.where = append(c.where, step{name: name}) }

func (c *checker) pushItem(i int) { c.where = append(c.where, step{index: i, kind: stepItem}) }

func (c *checker) pushKey(key string) { c.where = append(c.where, step{name: key, kind: stepKey}) }

func (c *checker) pop() { c.where = c.where[:len(c.where)-1] }

// enclosing returns what the innermost block of that name is being run on.
func (c *checker) enclosing(name string) (now, old document.Value, ok bool) {
	for i := len(c.scopes) - 1; i >= 0; i-- {
		if s := &c.scopes[i]; s.block.name == name {
			return s.now, s.old, true
		}
	}
	return document.Value{}, document.Value{}, false
}

// place writes where errors are, with more fields below it.
func (c *checker) place(below ...string) string {
	var b strings.Builder
	if c.elsewhere == nil {
		writeSteps(&b, c.where)
	} else {
		up := 0
		for up < len(c.elsewhere) && c.elsewhere[up].kind == stepUp {
			up++
		}
		writeSteps(&b, c.where[:max(0, c.base-up)])
		for _, s := range c.elsewhere[up:] {
			if s.kind == stepItem {
				s.index = c.item
			}
			writeSteps(&b, []step{s})
		}
	}
	for _, name := range below {
		writeSteps(&b, []step{{name: name}})
	}
	return b.String()
}

func writeSteps(b *strings.Builder, steps []step) {
	for _, s := range steps {
		switch s.kind {
		case stepField:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.name)
		case stepItem:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case stepKey:
			b.WriteString("[" + s.name + "]")
		}
	}
}

// mostErrors is how many errors are told of one object. A body of 3 MiB can have a million, with a long list of what
// was expected in each.
const mostErrors = 10_000

// fail adds an error at a place below this one.
func (c *checker) fail(kind field.ErrorType, bad any, detail string, below ...string) {
	if len(c.errs) == mostErrors {
		return
	}
	c.errs = append(c.errs, &field.Error{Type: kind, Field: c.place(below...), BadValue: bad, Detail: detail})
}

func (c *checker) invalid(bad any, detail string, below ...string) {
	c.fail(field.ErrorTypeInvalid, bad, detail, below...)
}

func (c *checker) invalidAll(bad any, details []string, below ...string) {
	for _, detail := range details {
		c.invalid(bad, detail, below...)
	}
}

func (c *checker) required(detail string, below ...string) {
	c.fail(field.ErrorTypeRequired, "", detail, below...)
}

func (c *checker) forbidden(detail string, below ...string) {
	c.fail(field.ErrorTypeForbidden, "", detail, below...)
}

func (c *checker) duplicate(bad any, below ...string) {
	c.fail(field.ErrorTypeDuplicate, bad, "", below...)
}

func (c *checker) tooLong(most int, below ...string) {
	e := field.TooLong(nil, nil, most)
	c.fail(e.Type, e.BadValue, e.Detail, below...)
}

func (c *checker) unsupported(bad any, supported []string, below ...string) {
	e := field.NotSupported(nil, bad, supported)
	c.fail(e.Type, e.BadValue, e.Detail, below...)
}
