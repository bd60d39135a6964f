package flowcontrol

import (
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/fields"
)

// watches counts the active watches, by the objects that they select. It is safe for concurrent use.
type watches struct {
	total  atomic.Int64 // the sum of counts; a write without any watch needs no lock
	mu     sync.Mutex
	counts map[watched]int
}

// watched is a set of objects: all objects of a resource, those in a namespace, or one object.
type watched struct{ group, resource, namespace, name string }

// add counts a watch, and returns a function that must be called when the watch ends.
func (w *watches) add(r *Request) (remove func()) {
	at := watched{r.Group, r.Resource, r.Namespace, r.Name}
	w.change(at, 1)
	return func() { w.change(at, -1) }
}

func (w *watches) change(at watched, by int) {
	w.total.Add(int64(by))
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.counts == nil {
		w.counts = map[watched]int{}
	}
	if w.counts[at] += by; w.counts[at] == 0 {
		delete(w.counts, at)
	}
}

// interested returns the number of watches that may receive an event for a write.
func (w *watches) interested(r *Request) int {
	if w.total.Load() == 0 {
		return 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.counts[watched{r.Group, r.Resource, "", ""}]
	if r.Namespace != "" {
		n += w.counts[watched{r.Group, r.Resource, r.Namespace, ""}]
	}
	if r.Name != "" {
		n += w.counts[watched{r.Group, r.Resource, r.Namespace, r.Name}]
	}
	return n
}

// Watch counts an active watch, and returns a function that must be called when it ends. As in Kubernetes, watches of pods of
// one node do not count, because an index selects their events.
func (c *Controller) Watch(r *Request, selector fields.Selector) (end func()) {
	if r.Resource == "pods" && r.Group == "" && selector != nil {
		if node, ok := selector.RequiresExactMatch("spec.nodeName"); ok && node != "" {
			return func() {}
		}
	}
	return c.watches.add(r)
}
