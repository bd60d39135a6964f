package watchcache

import "sync/atomic"

// topicKey says what a topic is about: a namespace, a name in it or in all, objects with a
// value of a label or field, in a namespace or in all. The zero key is about all of a kind.
type topicKey struct {
	namespace, name string
	attribute       attribute
}

// attribute is a label or a field with a value.
type attribute struct {
	source      attributeSource
	name, value string
}

type attributeSource uint8

const (
	noAttribute attributeSource = iota
	byLabel
	byField
)

// topic is the events that touch one thing since somebody watches it, and those who wait for
// more. The lock of the kind guards it.
type topic struct {
	key    topicKey
	events events
	// watchers is how many there are. waiting is set when one of them waits for changed to
	// be closed; they set it under the read lock.
	watchers int
	waiting  atomic.Bool
	changed  chan struct{}
}

func newTopic(key topicKey) *topic { return &topic{key: key, changed: make(chan struct{})} }

// wakers are the channels to close to wake watchers. That is done when locks are given back and
// writers have their answer: there may be very many. Topics that nobody waits at have noAttribute.
type wakers struct{ changed []chan struct{} }

func (w *wakers) add(t *topic) {
	if t.waiting.Load() {
		t.waiting.Store(false)
		w.changed = append(w.changed, t.changed)
		t.changed = make(chan struct{})
	}
}

func (w *wakers) all() {
	for _, changed := range w.changed {
		close(changed)
	}
}

// topics are those of a kind that somebody watches, but for the one about all.
type topics struct {
	byKey map[topicKey]*topic
	// labels and fields count the topics about each label and field, so that those that
	// nobody asks for are not looked up.
	labels, fields map[string]int
}

// touched calls visit with the topics that an event touches, maybe more than once.
func (t *topics) touched(e *event, visit func(*topic)) {
	if len(t.byKey) == 0 {
		return
	}
	namespace, name := e.kind.place(e.key())
	find := func(key topicKey) {
		if found := t.byKey[key]; found != nil {
			visit(found)
		}
	}
	both := func(key topicKey) {
		find(key)
		if namespace != "" {
			key.namespace = namespace
			find(key)
		}
	}
	if namespace != "" {
		find(topicKey{namespace: namespace})
	}
	both(topicKey{name: name})
	for _, o := range [2]*Object{e.before, e.after} {
		if o != nil {
			t.attributes(o, func(a attribute) { both(topicKey{attribute: a}) })
		}
	}
}

// attributes calls visit with the attributes of an object that some topic may be about.
func (t *topics) attributes(o *Object, visit func(attribute)) {
	if len(t.labels) > 0 {
		for _, l := range o.labels {
			if t.labels[l.Key] > 0 {
				visit(attribute{byLabel, l.Key, l.Value})
			}
		}
	}
	if len(t.fields) > 0 {
		for i, f := range o.kind.fields {
			if t.fields[f.Name] > 0 {
				visit(attribute{byField, f.Name, o.fields[i]})
			}
		}
	}
}

// put adds a topic, remove takes one out.
func (t *topics) put(added *topic) {
	if t.byKey == nil {
		t.byKey, t.labels, t.fields = map[topicKey]*topic{}, map[string]int{}, map[string]int{}
	}
	t.byKey[added.key] = added
	t.count(added.key.attribute, 1)
}

func (t *topics) remove(removed *topic) {
	delete(t.byKey, removed.key)
	t.count(removed.key.attribute, -1)
}

func (t *topics) count(a attribute, by int) {
	var counts map[string]int
	switch a.source {
	case byLabel:
		counts = t.labels
	case byField:
		counts = t.fields
	case noAttribute:
		return
	}
	if counts[a.name] += by; counts[a.name] == 0 {
		delete(counts, a.name)
	}
}
