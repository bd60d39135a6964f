package watchcache

import (
	"fmt"
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// Selection selects objects of a resource.
type Selection struct {
	Kind string // GROUP/RESOURCE
	// Namespace and Name select objects with that value; "" selects all.
	Namespace, Name string
	// Labels and Fields are selectors; nil selects all.
	Labels labels.Selector
	Fields fields.Selector
	// Match is an additional filter; nil selects all. It must always return the same result for an object.
	Match func(*Object) bool
	// Prefetch is called before Match with batches of objects, for lists and the initial state of watches, so that
	// information about them can be obtained together. It may be nil.
	Prefetch func([]*Object)
}

// prefetchBatch is the maximum number of objects per call of Prefetch.
const prefetchBatch = 100

// matcher is a validated Selection. nothing means that it selects no object.
type matcher struct {
	namespace, name string
	labels          labels.Selector    // nil selects all
	fields          fields.Selector    // nil selects all
	match           func(*Object) bool // nil selects all
	prefetch        func([]*Object)
	nothing         bool
	// topic is the key of a topic that has all events of the selection. onlyNamespacedName means that the selection
	// is defined by namespace and name alone.
	topic              topicKey
	onlyNamespacedName bool
}

// newMatcher validates a selection, and determines its topic.
func newMatcher(k *resourceCache, s Selection) (matcher, error) {
	if !isGroupResource(s.Kind) {
		return matcher{}, fmt.Errorf("cache: expected a kind such as apps/deployments, received %q", s.Kind)
	}
	m := matcher{namespace: s.Namespace, name: s.Name, match: s.Match, prefetch: s.Prefetch}
	if s.Labels != nil && !s.Labels.Empty() {
		m.labels = s.Labels
	}
	if s.Fields != nil && !s.Fields.Empty() {
		if err := m.addFields(k, s.Fields); err != nil {
			return matcher{}, err
		}
	}
	m.topic = topicKey{namespace: m.namespace, name: m.name}
	if m.name == "" {
		m.topic.attribute = m.equality(k)
	}
	m.onlyNamespacedName = m.labels == nil && m.fields == nil && m.match == nil && !m.nothing
	return m, nil
}

// addFields validates a field selector, and extracts equality requirements for namespace and name.
func (m *matcher) addFields(k *resourceCache, s fields.Selector) error {
	rest := len(s.Requirements()) == 0 // as for fields.Nothing
	for _, r := range s.Requirements() {
		equals := isEquality(r.Operator) && r.Value != ""
		switch {
		case r.Field == "metadata.name" && equals:
			m.nothing = m.nothing || m.name != "" && m.name != r.Value
			m.name = r.Value
		case r.Field == "metadata.namespace" && equals:
			m.nothing = m.nothing || m.namespace != "" && m.namespace != r.Value
			m.namespace = r.Value
		case !slices.Contains(k.fieldNames(), r.Field):
			return &UnknownFieldError{Kind: k.name, Field: r.Field, Known: k.fieldNames()}
		default:
			rest = true
		}
	}
	if rest {
		m.fields = s
	}
	return nil
}

// equality returns a label or field that the selection requires to have one value; the zero attribute if there is none.
func (m *matcher) equality(k *resourceCache) attribute {
	if m.labels != nil {
		requirements, _ := m.labels.Requirements()
		for _, r := range requirements {
			if values := r.ValuesUnsorted(); len(values) == 1 && isEquality(r.Operator()) {
				return attribute{byLabel, r.Key(), values[0]}
			}
		}
	}
	if m.fields != nil {
		for _, r := range m.fields.Requirements() {
			if isEquality(r.Operator) && slices.ContainsFunc(k.fields, func(f Field) bool { return f.Name == r.Field }) {
				return attribute{byField, r.Field, r.Value}
			}
		}
	}
	return attribute{}
}

func isEquality(o selection.Operator) bool {
	return o == selection.Equals || o == selection.DoubleEquals || o == selection.In
}

// matches reports whether the selection includes the object; false for nil.
func (m *matcher) matches(o *Object) bool { return m.mayMatch(o) && (m.match == nil || m.match(o)) }

// mayMatch is matches without the Match filter.
func (m *matcher) mayMatch(o *Object) bool {
	if o == nil || m.nothing {
		return false
	}
	if m.namespace != "" || m.name != "" {
		namespace, name := o.resource.splitKey(o.key)
		if m.namespace != "" && m.namespace != namespace || m.name != "" && m.name != name {
			return false
		}
	}
	return (m.labels == nil || m.labels.Matches(labelsOf{o})) && (m.fields == nil || m.fields.Matches(fieldsOf{o}))
}

// of iterates over the objects that the selection includes.
func (m *matcher) of(objects iter.Seq[*Object]) iter.Seq[*Object] {
	return func(yield func(*Object) bool) {
		var next []*Object
		for o := range objects {
			if !m.mayMatch(o) {
				continue
			}
			if m.match == nil {
				if !yield(o) {
					return
				}
				continue
			}
			if next = append(next, o); len(next) == prefetchBatch {
				if !m.yieldMatches(next, yield) {
					return
				}
				next = next[:0]
			}
		}
		m.yieldMatches(next, yield)
	}
}

// yieldMatches yields the objects of a batch that pass the Match filter. It returns false if the consumer has stopped.
func (m *matcher) yieldMatches(next []*Object, yield func(*Object) bool) bool {
	if m.prefetch != nil && len(next) > 0 {
		m.prefetch(next)
	}
	for _, o := range next {
		if m.match(o) && !yield(o) {
			return false
		}
	}
	return true
}

// labelsOf and fieldsOf adapt an object to labels.Labels and fields.Fields.
type (
	labelsOf struct{ o *Object }
	fieldsOf struct{ o *Object }
)

func (l labelsOf) Has(key string) bool { _, ok := l.o.Label(key); return ok }

func (l labelsOf) Get(key string) string { value, _ := l.o.Label(key); return value }

func (l labelsOf) Lookup(key string) (value string, exists bool) { return l.o.Label(key) }

func (f fieldsOf) Has(name string) bool { _, ok := f.o.Field(name); return ok }

func (f fieldsOf) Get(name string) string { value, _ := f.o.Field(name); return value }

// prefix returns the common prefix of the keys of the selection.
func (m *matcher) prefix(k *resourceCache) string {
	if m.namespace == "" {
		return k.prefix()
	}
	return k.prefix() + m.namespace + "/"
}

// list returns the objects of a query from a snapshot.
func (m *matcher) list(k *resourceCache, objects tree, q Query) List {
	var list List
	if m.nothing {
		return list
	}
	start, end := m.bounds(k, q.After)
	if m.name == "" && m.onlyNamespacedName {
		first := objects.rank(start)
		count := max(0, objects.rank(end)-first)
		if q.Limit > 0 && count > q.Limit {
			list.More, list.Remaining = true, count-q.Limit
			count = q.Limit
		}
		list.Objects = objects.slice(first, count)
		return list
	}
	take := func(o *Object) bool {
		if q.Limit > 0 && len(list.Objects) == q.Limit {
			list.More, list.Remaining = true, -1
			return false
		}
		list.Objects = append(list.Objects, o)
		return true
	}
	if m.match != nil {
		m.of(objects.between(start, end))(take)
		return list
	}
	for o := range objects.from(start) {
		if o.key >= end || m.mayMatch(o) && !take(o) {
			break
		}
	}
	return list
}

// bounds returns the key range [start, end) of the selection after a key.
func (m *matcher) bounds(k *resourceCache, after string) (start, end string) {
	start = m.prefix(k)
	end = successor(start)
	if m.namespace != "" && m.name != "" {
		start += m.name
		end = start + "\x00"
	}
	if after >= start {
		start = after + "\x00"
	}
	return start, end
}

// successor returns the least string that is greater than all strings with a prefix, which must not end with 0xff.
func successor(prefix string) string {
	last := len(prefix) - 1
	return prefix[:last] + string([]byte{prefix[last] + 1})
}
