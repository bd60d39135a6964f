package watchcache

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
)

// Form is a representation of objects that is computed on demand and cached with the object: the parsed object, or an
// encoding. Each representation is one Form, usually held by a package variable of the package that registers it.
type Form struct {
	make func(*Object) (value any, bytes int, err error)
}

// NewForm returns a new Form. make computes the form of an object: it returns the value and its approximate size in bytes. make
// must be safe for concurrent use. All callers of Object.As share the value.
func NewForm(make func(*Object) (value any, bytes int, err error)) *Form { return &Form{make: make} }

// formOverhead is the memory of a cached form without its value, in bytes.
const formOverhead = 128

// form is the cached value of a Form for one object.
type form struct {
	of    *Form
	once  sync.Once
	value any
	err   error
	// used is set when As returns the form, and cleared by the eviction scan.
	used atomic.Bool
}

// formList is a linked list of the cached forms of one object. It is immutable: adding or removing a form creates a new list.
type formList struct {
	*form
	next *formList
}

func (l *formList) find(f *Form) *form {
	for ; l != nil; l = l.next {
		if l.of == f {
			return l.form
		}
	}
	return nil
}

func (l *formList) without(f *Form) *formList {
	switch {
	case l == nil:
		return nil
	case l.of == f:
		return l.next
	}
	return &formList{l.form, l.next.without(f)}
}

// As returns the value of the form f of the object. The caller must not modify the value. The first call computes the value,
// once for all concurrent callers; it is cached until the forms of all objects exceed their size limit or memory is short. If
// the computation fails, all waiting callers get the error, and the next call computes the value again.
func (o *Object) As(f *Form) (any, error) {
	made := o.formOf(f)
	made.once.Do(func() {
		made.err = fmt.Errorf("cache: %s: computing a form of the object panicked", o.key) // returned if make panics, and overwritten if it does not
		var bytes int
		made.value, bytes, made.err = f.make(o)
		if made.err != nil {
			o.dropForm(f) // a later call may succeed, for instance when a conversion webhook is available again
			return
		}
		o.resource.forms.add(o, f, bytes+formOverhead)
	})
	if !made.used.Load() { // reading the flag before writing it avoids contention, because it is rarely false
		made.used.Store(true)
	}
	return made.value, made.err
}

// LacksForm reports whether the value of the form f is neither cached nor being computed.
func (o *Object) LacksForm(f *Form) bool { return o.forms.Load().find(f) == nil }

// Keep caches value, of the given size in bytes, as the form f of the object. The caller has computed it, for instance together
// with the values of other objects. Keep is a no-op if the form is already cached or being computed.
func (o *Object) Keep(f *Form, value any, bytes int) {
	made := o.formOf(f)
	made.once.Do(func() {
		made.value = value
		o.resource.forms.add(o, f, bytes+formOverhead)
	})
}

// formOf returns the cache entry of the form f of the object. If there is none, it adds an entry without a value.
func (o *Object) formOf(f *Form) *form {
	for {
		list := o.forms.Load()
		if there := list.find(f); there != nil {
			return there
		}
		added := &form{of: f}
		if o.forms.CompareAndSwap(list, &formList{added, list}) {
			return added
		}
	}
}

// dropForm removes the cache entry of the form f of the object.
func (o *Object) dropForm(f *Form) {
	for {
		list := o.forms.Load()
		if o.forms.CompareAndSwap(list, list.without(f)) {
			return
		}
	}
}

// takeUsed reports whether As was called for the form f since the last call of takeUsed, and clears the form's flag used.
func (o *Object) takeUsed(f *Form) bool {
	there := o.forms.Load().find(f)
	return there != nil && there.used.Swap(false)
}

var parsed = NewForm(func(o *Object) (any, int, error) {
	object, err := apply.ReadObject(o.text)
	return object, 2 * len(o.text), err
})

// Parsed returns the object as parsed for the apply engine, without its resourceVersion. It returns an *apply.EntryError if
// managedFields are invalid.
func (o *Object) Parsed() (apply.Object, error) {
	v, err := o.As(parsed)
	if syntax := (*document.SyntaxError)(nil); errors.As(err, &syntax) {
		return apply.Object{}, &UnreadableError{Key: o.key, Err: err}
	}
	if err != nil {
		return apply.Object{}, fmt.Errorf("cache: %s: %w", o.key, err)
	}
	return v.(apply.Object), nil
}

// WithoutManagedFields returns the object as a parsed document, with its resourceVersion and without managedFields.
func (o *Object) WithoutManagedFields() (document.Value, error) {
	return document.ParseJSONLimited(o.JSONWithoutManagedFields(), document.Limits{MaxBytes: -1})
}

// forms limits the memory of the cached forms of all objects. It evicts forms that were not used recently when the limit is
// exceeded, and all forms when memory is short.
type forms struct {
	mu sync.Mutex
	// cached lists the cached forms in eviction order; bytes is their total size. It holds weak references to objects.
	cached []cachedForm
	bytes  int
	limit  int
	memory func() (used, limit uint64)
}

type cachedForm struct {
	object weak.Pointer[Object]
	form   *Form
	bytes  int
}

// add registers the cached form of o with its size in bytes, and evicts forms if the limit is exceeded. The eviction scan skips
// forms that were used since the previous scan (clock algorithm).
func (f *forms) add(o *Object, form *Form, bytes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cached = append(f.cached, cachedForm{weak.Make(o), form, bytes})
	f.bytes += bytes
	done := 0
	for ; f.bytes > f.limit && done < len(f.cached); done++ {
		c := f.cached[done]
		if o := c.object.Value(); o != nil && o.takeUsed(c.form) {
			f.cached = append(f.cached, c)
			continue
		}
		f.evict(c)
	}
	clear(f.cached[:done])
	f.cached = f.cached[done:]
}

func (f *forms) evict(c cachedForm) {
	if o := c.object.Value(); o != nil {
		o.dropForm(c.form)
	}
	f.bytes -= c.bytes
}

// evictIfMemoryShort evicts the forms of all objects if memory is short.
func (f *forms) evictIfMemoryShort() {
	if !isMemoryShort(f.memory()) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.cached {
		f.evict(c)
	}
	f.cached = nil
}
