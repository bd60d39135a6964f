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

// Form is a representation that objects are converted to on demand and that is cached with them: the parsed object,
// or an encoding. Each representation is one Form, usually a package variable of the package that registers it.
type Form struct {
	make func(*Object) (value any, bytes int, err error)
}

// NewForm registers a form: a function that converts an object and returns the approximate number of bytes that the
// result takes. The function must be safe for concurrent use. All callers share its result.
func NewForm(make func(*Object) (value any, bytes int, err error)) *Form { return &Form{make: make} }

// formOverhead is the memory of a cache entry for a form, in bytes, without its value.
const formOverhead = 128

// form is the cached value of a Form for one object.
type form struct {
	of    *Form
	once  sync.Once
	value any
	err   error
	// used is set by As, and cleared by the eviction scan.
	used atomic.Bool
}

// formList is the list of an object's forms. It is immutable: adding and removing a form replaces it.
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

// As returns the object in a form. The caller must not modify the result. The form is computed on first use, once for
// all concurrent callers, and cached until the size limit of all forms is exceeded or memory is short. If the
// computation fails, all waiting callers get the error, and the next call retries.
func (o *Object) As(f *Form) (any, error) {
	made := o.formOf(f)
	made.once.Do(func() {
		made.err = fmt.Errorf("cache: %s: computing a form of the object panicked", o.key) // the result if make panics
		var bytes int
		made.value, bytes, made.err = f.make(o)
		if made.err != nil {
			o.dropForm(f) // a later attempt may succeed, such as when a webhook is available again
			return
		}
		o.resource.forms.add(o, f, bytes+formOverhead)
	})
	if !made.used.Load() { // avoids contention: the flag is read often and rarely written
		made.used.Store(true)
	}
	return made.value, made.err
}

// Lacks reports whether a form is neither cached nor being computed.
func (o *Object) Lacks(f *Form) bool { return o.forms.Load().find(f) == nil }

// Keep caches a form that the caller has computed, such as for several objects at once. It is a no-op if the object
// has the form already.
func (o *Object) Keep(f *Form, value any, bytes int) {
	made := o.formOf(f)
	made.once.Do(func() {
		made.value = value
		o.resource.forms.add(o, f, bytes+formOverhead)
	})
}

// formOf returns the entry of a form, and adds an empty one if there is none.
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

// dropForm removes the entry of a form.
func (o *Object) dropForm(f *Form) {
	for {
		list := o.forms.Load()
		if o.forms.CompareAndSwap(list, list.without(f)) {
			return
		}
	}
}

// takeUsed reports whether As was called for a form since the last call of takeUsed, and resets that flag.
func (o *Object) takeUsed(f *Form) bool {
	there := o.forms.Load().find(f)
	return there != nil && there.used.Swap(false)
}

var parsed = NewForm(func(o *Object) (any, int, error) {
	object, err := apply.ReadObject(o.text)
	return object, 2 * len(o.text), err
})

// Parsed returns the object parsed for the apply engine, without its resourceVersion. It fails with an
// *apply.EntryError if the managedFields are invalid.
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

// WithoutManagedFields returns the object parsed, with its resourceVersion and without managedFields.
func (o *Object) WithoutManagedFields() (document.Value, error) {
	return document.ParseJSONLimited(o.JSONWithoutManagedFields(), document.Limits{MaxBytes: -1})
}

// forms is the cache of the forms of all objects. It evicts forms that were not used lately if the limit is exceeded,
// and all forms if memory is short.
type forms struct {
	mu sync.Mutex
	// kept lists the forms in eviction order, and bytes is their total size. It references objects weakly.
	kept   []keptForm
	bytes  int
	limit  int
	memory func() (used, limit uint64)
}

type keptForm struct {
	object weak.Pointer[Object]
	of     *Form
	bytes  int
}

// add registers a form, and evicts others if the limit is exceeded. Forms that were used since the last scan get a
// second chance (clock algorithm).
func (f *forms) add(o *Object, of *Form, bytes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kept = append(f.kept, keptForm{weak.Make(o), of, bytes})
	f.bytes += bytes
	done := 0
	for ; f.bytes > f.limit && done < len(f.kept); done++ {
		k := f.kept[done]
		if o := k.object.Value(); o != nil && o.takeUsed(k.of) {
			f.kept = append(f.kept, k)
			continue
		}
		f.evict(k)
	}
	clear(f.kept[:done])
	f.kept = f.kept[done:]
}

func (f *forms) evict(k keptForm) {
	if o := k.object.Value(); o != nil {
		o.dropForm(k.of)
	}
	f.bytes -= k.bytes
}

// evictIfMemoryShort evicts all forms if memory is short.
func (f *forms) evictIfMemoryShort() {
	if !isShort(f.memory()) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, k := range f.kept {
		f.evict(k)
	}
	f.kept = nil
}
