package builtin

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission/plugin/cel"

	"github.com/cadastre/cadastre/document"
)

// Validate returns the same errors as kube-apiserver, in the same order, for an object of a built-in kind. The object must be
// decoded and defaulted. old is the live object, or absent on create. It returns nil for types that are not kinds.
func (t *Type) Validate(obj, old document.Value) field.ErrorList {
	return t.validate(ruleset().kinds[t], obj, old)
}

// ValidateSubresource returns the errors of a write to a subresource, such as status, whose bodies are the objects
// themselves. obj must have the live values of all fields that a write to the subresource cannot change. It returns nil for a
// subresource without validation rules.
func (t *Type) ValidateSubresource(name string, obj, live document.Value) field.ErrorList {
	return t.validate(ruleset().subresources[name][t], obj, live)
}

func (t *Type) validate(b *block, obj, old document.Value) field.ErrorList {
	if b == nil {
		return nil
	}
	c := checkers.Get().(*checker)
	book := ruleset()
	c.kind, c.blocks, c.namespaced, c.updating = t, book.blocks, book.kinds[t].namespaced, !isAbsentOrNull(old)
	c.checkObject(b, obj, old)
	if declared := book.declared[t]; declared != nil {
		c.runDeclared(declared, obj, old)
	}
	errs := c.errs
	c.reset()
	checkers.Put(c)
	return distinct(errs)
}

// distinct returns errs without errors that repeat the text of an earlier error, because kube-apiserver reports each error
// once.
func distinct(errs field.ErrorList) field.ErrorList {
	if len(errs) < 2 {
		return errs
	}
	seen := make(map[string]bool, len(errs))
	return slices.DeleteFunc(errs, func(e *field.Error) bool {
		text := e.Error()
		isRepeated := seen[text]
		seen[text] = true
		return isRepeated
	})
}

var checkers = sync.Pool{New: func() any { return new(checker) }}

// checker is the state of the validation of one object. Errors are reported at the current path or, if the statement has a
// reportPath, at reportPath, because kube-apiserver reports some errors at another path than the path of the validated field.
type checker struct {
	kind                 *Type
	blocks               map[string]*block // blocks maps names to blocks, for checks that run a block from Go.
	namespaced, updating bool
	errs                 field.ErrorList
	warnings             []string
	path                 []step
	// reportPath is the path at which the current statement reports errors, relative to the path of its block; nil if errors
	// are reported at path. The path of the block consists of the first base steps of path.
	reportPath []step
	base       int
	// scopes are the blocks that are being evaluated, the outermost first.
	scopes []scope
	// list is the innermost list that is being iterated; item is the index in list of the current item.
	list document.Value
	item int
	// invalidValues is the set of values in which errors have been found. A reference by name to an invalid value is invalid.
	invalidValues map[document.Value]bool
	indexes       map[indexKey]map[string]int
	// composed is the compiler for the CEL expressions of a policy with variables; it is created on first use.
	composed *cel.CompositedCompiler
}

// scope is a block that is being evaluated, with the value that it is applied to and the value before the update.
type scope struct {
	block      *block
	value, old document.Value
}

// step is one step of a path: a field, a list item, a map key, or the enclosing value.
type step struct {
	name  string
	index int
	kind  stepKind
}

type stepKind uint8

const (
	stepField stepKind = iota
	stepItem           // an item of a list; in the path of a rule, every item
	stepKey            // a key of a map; in the path of a rule, every key
	stepUp             // the enclosing value; only in the reportPath of a rule
)

// checkObject adds the errors of the rules in kind files in the order of kube-apiserver: on update, the errors of the metadata
// checks for all kinds come first.
func (c *checker) checkObject(b *block, obj, old document.Value) {
	if c.updating {
		c.push("metadata")
		c.checkMeta(obj.Get("metadata"), pathSegment)
		c.checkUpdatedMeta(obj.Get("metadata"), old.Get("metadata"))
		c.pop()
	}
	c.run(b, obj, old)
	if !c.updating && !b.checksNames && !b.review && len(c.errs) == 0 {
		c.push("metadata")
		c.checkMeta(obj.Get("metadata"), pathSegment)
		c.pop()
	}
}

// reset clears the checker for reuse. It retains allocated slices, but no references to documents.
func (c *checker) reset() {
	clear(c.path[:cap(c.path)])
	clear(c.scopes[:cap(c.scopes)])
	*c = checker{path: c.path[:0], scopes: c.scopes[:0]}
}

func (c *checker) push(name string) { c.path = append(c.path, step{name: name}) }

func (c *checker) pushItem(i int) { c.path = append(c.path, step{index: i, kind: stepItem}) }

func (c *checker) pushKey(key string) { c.path = append(c.path, step{name: key, kind: stepKey}) }

func (c *checker) pop() { c.path = c.path[:len(c.path)-1] }

// enclosing returns the value of the innermost block with the given name that is being evaluated, and its value before the
// update; ok is false if there is no such block.
func (c *checker) enclosing(name string) (value, old document.Value, ok bool) {
	for i := len(c.scopes) - 1; i >= 0; i-- {
		if s := &c.scopes[i]; s.block.name == name {
			return s.value, s.old, true
		}
	}
	return document.Value{}, document.Value{}, false
}

// fieldPath returns the path at which errors of the current statement are reported, extended by the field names in below.
func (c *checker) fieldPath(below ...string) string {
	var b strings.Builder
	if c.reportPath == nil {
		writeSteps(&b, c.path)
	} else {
		up := 0
		for up < len(c.reportPath) && c.reportPath[up].kind == stepUp {
			up++
		}
		writeSteps(&b, c.path[:max(0, c.base-up)])
		for _, s := range c.reportPath[up:] {
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

// maxErrors is the maximum number of errors that are reported for one object. A body of 3 MiB can cause a million errors, each
// with a long list of supported values.
const maxErrors = 10_000

// isFull reports whether the object has maxErrors errors. The rest of the object is then not validated.
func (c *checker) isFull() bool { return len(c.errs) == maxErrors }

// fail adds an error at the path that consists of the current path and the field names in below. It does nothing after
// maxErrors errors.
func (c *checker) fail(kind field.ErrorType, bad any, detail string, below ...string) {
	if len(c.errs) == maxErrors {
		return
	}
	c.errs = append(c.errs, &field.Error{Type: kind, Field: c.fieldPath(below...), BadValue: bad, Detail: detail})
}

func (c *checker) invalid(bad any, detail string, below ...string) {
	c.fail(field.ErrorTypeInvalid, bad, detail, below...)
}

// invalidBy is like invalid, but sets the origin of the error, so that an error of declarative validation with that origin
// replaces it.
func (c *checker) invalidBy(origin string, bad any, detail string, below ...string) {
	before := len(c.errs)
	c.invalid(bad, detail, below...)
	c.errs[before:].WithOrigin(origin)
}

// invalidFormat adds the errors of text if it does not have the format f.
func (c *checker) invalidFormat(f format, text string) {
	for _, detail := range f.check(text) {
		c.invalidBy(f.origin, text, detail) // unlike invalidAll, this does not allocate memory for valid strings
	}
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

func (c *checker) tooLong(maximum int, below ...string) {
	e := field.TooLong(nil, nil, maximum)
	c.fail(e.Type, e.BadValue, e.Detail, below...)
}

func (c *checker) unsupported(bad any, supported []string, below ...string) {
	e := field.NotSupported(nil, bad, supported)
	c.fail(e.Type, e.BadValue, e.Detail, below...)
}
