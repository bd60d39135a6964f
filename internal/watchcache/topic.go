package watchcache

import "sync/atomic"

// topicKey is the selector of a topic: a namespace, a name, or a label or field with its value. A name, label or field is
// selected in one namespace or in all namespaces. The zero topicKey selects all objects of a resource.
type topicKey struct {
	namespace, name string
	attribute       attribute
}

// attribute is a label or a selectable field with a value; the zero attribute is neither.
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

// topic holds the events that match a selector, since the first subscription of the topic. The lock of the resource guards it.
type topic struct {
	key    topicKey
	events events
	// watchers is the number of subscriptions. A watcher sets waiting, under the read lock, before it waits for changed to be
	// closed.
	watchers int
	waiting  atomic.Bool
	changed  chan struct{}
}

func newTopic(key topicKey) *topic { return &topic{key: key, changed: make(chan struct{})} }

// wakers collects the channels whose closing wakes waiting watchers. They are closed only after locks are released and
// writers are unblocked, because there may be very many watchers. Topics without a waiting watcher add no channel.
type wakers struct{ changed []chan struct{} }

func (w *wakers) add(t *topic) {
	if t.waiting.Load() {
		t.waiting.Store(false)
		w.changed = append(w.changed, t.changed)
		t.changed = make(chan struct{})
	}
}

func (w *wakers) wakeAll() {
	for _, changed := range w.changed {
		close(changed)
	}
}

// topics contains the topics of a resource that have subscriptions, except the topic of all events.
type topics struct {
	byKey map[topicKey]*topic
	// labels and fields count the topics per label key and field name, so that eachForEvent looks up only these labels and fields
	// of an object.
	labels, fields map[string]int
}

// eachForEvent calls visit for the topics whose selector matches the object before or after the event e. It may visit a topic
// more than once.
func (t *topics) eachForEvent(e *event, visit func(*topic)) {
	if len(t.byKey) == 0 {
		return
	}
	namespace, name := e.resource.splitKey(e.key())
	visitKey := func(key topicKey) {
		if found := t.byKey[key]; found != nil {
			visit(found)
		}
	}
	visitScopes := func(key topicKey) {
		visitKey(key)
		if namespace != "" {
			key.namespace = namespace
			visitKey(key)
		}
	}
	if namespace != "" {
		visitKey(topicKey{namespace: namespace})
	}
	visitScopes(topicKey{name: name})
	for _, o := range [2]*Object{e.before, e.after} {
		if o != nil {
			t.eachAttribute(o, func(a attribute) { visitScopes(topicKey{attribute: a}) })
		}
	}
}

// eachAttribute calls visit for those labels and fields of o for whose key or name there is a topic.
func (t *topics) eachAttribute(o *Object, visit func(attribute)) {
	if len(t.labels) > 0 {
		for _, l := range o.labels {
			if t.labels[l.Key] > 0 {
				visit(attribute{byLabel, l.Key, l.Value})
			}
		}
	}
	if len(t.fields) > 0 {
		for i, f := range o.resource.fields {
			if t.fields[f.Name] > 0 {
				visit(attribute{byField, f.Name, o.fields[i]})
			}
		}
	}
}

// put adds the topic added to byKey, and counts its label or field.
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

func (t *topics) count(a attribute, delta int) {
	var counts map[string]int
	switch a.source {
	case byLabel:
		counts = t.labels
	case byField:
		counts = t.fields
	case noAttribute:
		return
	}
	if counts[a.name] += delta; counts[a.name] == 0 {
		delete(counts, a.name)
	}
}
