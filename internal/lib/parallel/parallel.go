// Package parallel calls a function concurrently on behalf of one goroutine, such as the goroutine that serves a
// request.
//
// A panic that no deferred function recovers ends the process, whichever goroutine it is in. [Each] recovers a panic of
// a concurrent call and raises it in the goroutine that waits for the calls, where it can be recovered and ends only
// the request.
package parallel

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Each calls call(i) for every 0 <= i < n, in at most limit goroutines, and returns when all calls have returned. If a
// call panics, no further calls are started, and Each panics with a [*Panic] after the active calls have returned; it
// reports only the first panic.
func Each(n, limit int, call func(i int)) {
	var (
		next     atomic.Int64
		panicked atomic.Pointer[Panic]
		workers  sync.WaitGroup
	)
	for range min(n, limit) {
		workers.Go(func() {
			defer func() {
				if value := recover(); value != nil {
					panicked.CompareAndSwap(nil, &Panic{value, debug.Stack()})
				}
			}()
			for panicked.Load() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				call(i)
			}
		})
	}
	workers.Wait()
	if p := panicked.Load(); p != nil {
		panic(p)
	}
}

// Panic is the value with which Each panics if a concurrent call panicked.
type Panic struct {
	// Value is the value that the call passed to panic.
	Value any
	// Stack is the stack trace of the goroutine that panicked.
	Stack []byte
}

// Error implements error; it returns Value as text, without the stack.
func (p *Panic) Error() string { return fmt.Sprint(p.Value) }

// Unwrap returns Value if it is an error, otherwise nil.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}
