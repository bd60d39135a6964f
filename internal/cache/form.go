package cache

import (
	"context"
	"errors"
	"math"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/cadastre/cadastre/apply"
)

// Form is something that objects can be made into: parsed, or in another encoding. A program
// has one Form for each, as it has one function.
type Form struct {
	make func(*Object) (value any, bytes int, err error)
}

// NewForm returns the form that a function makes of objects. It also says about how much memory
// that takes.
func NewForm(make func(*Object) (value any, bytes int, err error)) *Form { return &Form{make: make} }

// formOverhead is what it takes to know of a form, whatever its size.
const formOverhead = 128

var errNotMade = errors.New("cache: to make a form of the object has failed before")

// form is an object in some form.
type form struct {
	of    *Form
	once  sync.Once
	value any
	err   error
	// used is set when somebody asks, and taken away when memory is short.
	used atomic.Bool
	next *form
}

// As returns the object in a form. It is made when somebody asks first, once however many ask,
// and stays until memory is short.
func (o *Object) As(f *Form) (any, error) {
	made := o.formOf(f)
	made.once.Do(func() {
		made.err = errNotMade // should it panic
		var bytes int
		made.value, bytes, made.err = f.make(o)
		o.kind.forms.add(o, bytes+formOverhead)
	})
	if !made.used.Load() {
		made.used.Store(true)
	}
	return made.value, made.err
}

// formOf returns where the object has a form, made or not.
func (o *Object) formOf(f *Form) *form {
	for {
		first := o.forms.Load()
		for there := first; there != nil; there = there.next {
			if there.of == f {
				return there
			}
		}
		added := &form{of: f, next: first}
		if o.forms.CompareAndSwap(first, added) {
			return added
		}
	}
}

var parsed = NewForm(func(o *Object) (any, int, error) {
	object, err := apply.ReadObject(o.text)
	return object, 2 * len(o.text), err
})

// Parsed returns the object as the engine takes it: parsed, without its revision.
func (o *Object) Parsed() (apply.Object, error) {
	v, err := o.As(parsed)
	if err != nil {
		return apply.Object{}, &UnreadableError{Key: o.key, Err: err}
	}
	return v.(apply.Object), nil
}

// forms knows which objects have forms, and lets go of them: of those that nobody has asked
// for lately if there are too many, of all if the program is short of memory.
type forms struct {
	mu sync.Mutex
	// kept are objects with forms, the oldest first, and bytes what these take. An object
	// that nobody needs any more is not kept alive by being here.
	kept   []keptForm
	bytes  int
	limit  int
	memory func() (used, limit uint64)
}

type keptForm struct {
	object weak.Pointer[Object]
	bytes  int
}

// add notes that an object has got a form.
func (f *forms) add(o *Object, bytes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kept = append(f.kept, keptForm{weak.Make(o), bytes})
	f.bytes += bytes
	f.letGo(f.limit)
}

// memoryInterval is how often memory is looked at.
const memoryInterval = time.Second

// watchMemory lets go of all forms whenever memory is short.
func (f *forms) watchMemory(ctx context.Context) {
	due := time.NewTicker(memoryInterval)
	defer due.Stop()
	for {
		select {
		case <-due.C:
			f.relieve()
		case <-ctx.Done():
			return
		}
	}
}

func (f *forms) relieve() {
	if !isShort(f.memory()) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.letGo(0)
}

// letGo drops forms until there are no more than a limit. Those that were asked for since they
// were last looked at are spared once.
func (f *forms) letGo(limit int) {
	done := 0
	for ; f.bytes > limit && done < len(f.kept); done++ {
		k := f.kept[done]
		o := k.object.Value()
		if o != nil && limit > 0 && o.takeUsed() {
			f.kept = append(f.kept, k)
			continue
		}
		if o != nil {
			o.forms.Store(nil)
		}
		f.bytes -= k.bytes
	}
	if done > 0 {
		clear(f.kept[:done])
		f.kept = f.kept[done:]
	}
}

// takeUsed reports whether somebody has asked for a form of the object since this was last
// asked.
func (o *Object) takeUsed() (used bool) {
	for f := o.forms.Load(); f != nil; f = f.next {
		used = f.used.Swap(false) || used
	}
	return used
}

// isShort reports whether the program comes close to the memory that it may use.
func isShort(used, limit uint64) bool { return used > limit/10*9 }

// memoryInUse returns how much memory the program uses and may use (see GOMEMLIMIT).
func memoryInUse() (used, limit uint64) {
	limit = uint64(debug.SetMemoryLimit(-1))
	if limit == math.MaxInt64 {
		return 0, limit
	}
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64(), limit
}
