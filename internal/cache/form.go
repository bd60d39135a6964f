package cache

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/packed"
)

// Form is something that objects can be made into: parsed, or in another encoding. A program
// has one Form for each, as it has one function.
type Form struct {
	make func(*Object) (value any, bytes int, err error)
}

// NewForm returns the form that a function makes of objects. The function also says about how much
// memory that takes.
func NewForm(make func(*Object) (value any, bytes int, err error)) *Form { return &Form{make: make} }

// formOverhead is what it takes to know of a form, whatever its size.
const formOverhead = 128

// form is an object in some form.
type form struct {
	of    *Form
	once  sync.Once
	value any
	err   error
	// used is set when somebody asks, and taken away when there are too many forms.
	used atomic.Bool
}

// formList is the forms of an object. It never changes: there is another one when a form comes or goes.
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

// As returns the object in a form, which must not be changed. It is made when somebody asks first,
// once however many ask, and stays until there are too many or memory is short. If it could not be made, all who have
// asked until then are told, and who asks later has it tried again.
func (o *Object) As(f *Form) (any, error) {
	made := o.formOf(f)
	made.once.Do(func() {
		made.err = fmt.Errorf("cache: %s: to make a form of the object has failed before", o.key) // should it panic
		var bytes int
		made.value, bytes, made.err = f.make(o)
		if made.err != nil {
			o.dropForm(f) // it may be possible later, such as when a webhook is there again
			return
		}
		o.kind.forms.add(o, f, bytes+formOverhead)
	})
	if !made.used.Load() { // many read it, few must write it
		made.used.Store(true)
	}
	return made.value, made.err
}

// Lacks reports whether nobody has made the object into a form, nor is about to.
func (o *Object) Lacks(f *Form) bool { return o.forms.Load().find(f) == nil }

// Keep gives the object a form that was made together with those of others. If somebody has made it meanwhile, that one
// stays.
func (o *Object) Keep(f *Form, value any, bytes int) {
	made := o.formOf(f)
	made.once.Do(func() {
		made.value = value
		o.kind.forms.add(o, f, bytes+formOverhead)
	})
}

// formOf returns where the object has a form, made or not.
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

// dropForm lets go of a form.
func (o *Object) dropForm(f *Form) {
	for {
		list := o.forms.Load()
		if o.forms.CompareAndSwap(list, list.without(f)) {
			return
		}
	}
}

// takeUsed reports whether somebody has asked for a form of the object since this was last asked.
func (o *Object) takeUsed(f *Form) bool {
	there := o.forms.Load().find(f)
	return there != nil && there.used.Swap(false)
}

var parsed = NewForm(func(o *Object) (any, int, error) {
	object, err := apply.ReadObject(o.text)
	return object, 2 * len(o.text), err
})

// Parsed returns the object as the engine takes it: parsed, without its revision. It fails with an
// *apply.EntryError if its managedFields can't be used.
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

// document returns the object as clients see it: with its revision.
func (o *Object) document() (document.Value, error) {
	return document.ParseJSONLimited(o.AppendJSON(nil), document.Limits{MaxBytes: -1})
}

// WithoutManagedFields returns the object as clients see it that can do without its managedFields.
func (o *Object) WithoutManagedFields() (document.Value, error) {
	return document.ParseJSONLimited(o.JSONWithoutManagedFields(), document.Limits{MaxBytes: -1})
}

var inProtobuf = NewForm(func(o *Object) (any, int, error) {
	doc, err := o.document()
	if err != nil {
		return nil, 0, err
	}
	made, err := packed.Protobuf(doc)
	return made, made.Memory(), err
})

// Protobuf returns the object in protobuf. It fails with a *packed.NoTypeError if its kind has none.
func (o *Object) Protobuf() (packed.Object, error) {
	v, err := o.As(inProtobuf)
	if err != nil {
		return packed.Object{}, fmt.Errorf("cache: %s: %w", o.key, err)
	}
	return v.(packed.Object), nil
}

var metadataInProtobuf = NewForm(func(o *Object) (any, int, error) {
	doc, err := o.document()
	if err != nil {
		return nil, 0, err
	}
	made, err := packed.ProtobufMetadata(doc)
	return made, made.Memory(), err
})

// ProtobufMetadata returns the object's metadata in protobuf, which all kinds have.
func (o *Object) ProtobufMetadata() (packed.Object, error) {
	v, err := o.As(metadataInProtobuf)
	if err != nil {
		return packed.Object{}, fmt.Errorf("cache: %s: %w", o.key, err)
	}
	return v.(packed.Object), nil
}

var inCBOR = NewForm(func(o *Object) (any, int, error) {
	doc, err := o.document()
	if err != nil {
		return nil, 0, err
	}
	made, err := packed.CBOR(doc)
	if err != nil {
		return nil, 0, err
	}
	return made, made.Memory(), nil
})

// CBOR returns the object in CBOR.
func (o *Object) CBOR() (*packed.CBORObject, error) {
	v, err := o.As(inCBOR)
	if err != nil {
		return nil, fmt.Errorf("cache: %s: %w", o.key, err)
	}
	return v.(*packed.CBORObject), nil
}

// forms knows which objects have forms, and lets go of them: of those that nobody has asked
// for lately if there are too many, of all if the program is short of memory.
type forms struct {
	mu sync.Mutex
	// kept are the forms, the longest unused first, and bytes what they take. An object that
	// nobody needs any more is not kept alive by being here.
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

// add notes that an object has got a form, and lets go of others if there are too many. Those that
// were asked for since they were last looked at are spared.
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
		f.letGo(k)
	}
	clear(f.kept[:done])
	f.kept = f.kept[done:]
}

func (f *forms) letGo(k keptForm) {
	if o := k.object.Value(); o != nil {
		o.dropForm(k.of)
	}
	f.bytes -= k.bytes
}

// relieve lets go of all forms if memory is short.
func (f *forms) relieve() {
	if !isShort(f.memory()) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, k := range f.kept {
		f.letGo(k)
	}
	f.kept = nil
}
