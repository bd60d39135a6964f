package watchcache

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// Selection selects objects of a resource.
type Selection struct {
	Kind string // the resource, as GROUP/RESOURCE
	// Namespace and Name select the objects with that namespace and name; "" selects all namespaces or names.
	Namespace, Name string
	// Labels and Fields are label and field selectors; nil selects all objects.
	Labels labels.Selector
	Fields fields.Selector
	// Match is an additional filter; nil selects all objects. It must always return the same result for the same object.
	Match func(*Object) bool
	// Prefetch, if not nil, is called with batches of objects before Match is called for them, for lists and for the initial
	// state of watches. It can fetch the data that Match needs for a whole batch.
	Prefetch func([]*Object)
}

// prefetchBatch is the maximum number of objects per call of Prefetch.
const prefetchBatch = 100

// matcher is a validated Selection. Its field nothing reports whether the selection matches no object.
type matcher struct {
	namespace, name string
	labels          labels.Selector    // nil matches all objects
	fields          fields.Selector    // nil matches all objects
	match           func(*Object) bool // nil matches all objects
	prefetch        func([]*Object)
	nothing         bool
	// topic is the key of a topic that receives all events of the selection, and possibly others. onlyNamespacedName means that
	// the selection consists of namespace and name only.
	topic              topicKey
	onlyNamespacedName bool
}

// newMatcher validates the selection s of objects of the resource rc, and determines its topic.
func newMatcher(rc *resourceCache, s Selection) (matcher, error) {
	if !isGroupResource(s.Kind) {
		return matcher{}, fmt.Errorf("cache: expected a kind such as apps/deployments, received %q", s.Kind)
	}
	m := matcher{namespace: s.Namespace, name: s.Name, match: s.Match, prefetch: s.Prefetch}
	if s.Labels != nil && !s.Labels.Empty() {
		m.labels = s.Labels
	}
	if s.Fields != nil && !s.Fields.Empty() {
		if err := m.addFields(rc, s.Fields); err != nil {
			return matcher{}, err
		}
	}
	m.topic = topicKey{namespace: m.namespace, name: m.name}
	if m.name == "" {
		m.topic.attribute = m.requiredAttribute(rc)
	}
	m.onlyNamespacedName = m.labels == nil && m.fields == nil && m.match == nil && !m.nothing
	return m, nil
}

// addFields validates the field selector s. It moves the equality requirements for metadata.name and metadata.namespace to
// m.name and m.namespace, and stores s in m.fields if it has further requirements.
func (m *matcher) addFields(rc *resourceCache, s fields.Selector) error {
	rest := len(s.Requirements()) == 0 // fields.Nothing has no requirements, but must be evaluated
	for _, r := range s.Requirements() {
		equals := isEquality(r.Operator) && r.Value != ""
		switch {
		case r.Field == "metadata.name" && equals:
			m.nothing = m.nothing || m.name != "" && m.name != r.Value
			m.name = r.Value
		case r.Field == "metadata.namespace" && equals:
			m.nothing = m.nothing || m.namespace != "" && m.namespace != r.Value
			m.namespace = r.Value
		case !slices.Contains(rc.fieldNames(), r.Field):
			return &UnknownFieldError{Kind: rc.name, Field: r.Field, Known: rc.fieldNames()}
		default:
			rest = true
		}
	}
	if rest {
		m.fields = s
	}
	return nil
}

// requiredAttribute returns a label or field for which the selection requires one particular value; the zero attribute if
// there is none.
func (m *matcher) requiredAttribute(rc *resourceCache) attribute {
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
			if isEquality(r.Operator) && slices.ContainsFunc(rc.fields, func(f Field) bool { return f.Name == r.Field }) {
				return attribute{byField, r.Field, r.Value}
			}
		}
	}
	return attribute{}
}

func isEquality(o selection.Operator) bool {
	return o == selection.Equals || o == selection.DoubleEquals || o == selection.In
}

// matches reports whether the selection includes o; it returns false if o is nil.
func (m *matcher) matches(o *Object) bool { return m.mayMatch(o) && (m.match == nil || m.match(o)) }

// mayMatch reports whether o matches the selection, apart from its Match filter; it returns false if o is nil.
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

// filter returns a sequence of those objects that the selection includes. It calls Prefetch for each batch of objects.
func (m *matcher) filter(objects iter.Seq[*Object]) iter.Seq[*Object] {
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

// yieldMatches yields the objects of next, a batch, that pass the Match filter. It returns false if yield returned false.
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

// labelsOf and fieldsOf adapt an object to the interfaces labels.Labels and fields.Fields of apimachinery.
type (
	labelsOf struct{ o *Object }
	fieldsOf struct{ o *Object }
)

func (l labelsOf) Has(key string) bool { _, ok := l.o.Label(key); return ok }

func (l labelsOf) Get(key string) string { value, _ := l.o.Label(key); return value }

func (l labelsOf) Lookup(key string) (value string, exists bool) { return l.o.Label(key) }

func (f fieldsOf) Has(name string) bool { _, ok := f.o.Field(name); return ok }

func (f fieldsOf) Get(name string) string { value, _ := f.o.Field(name); return value }

// prefix returns the common prefix of the keys of the selected objects.
func (m *matcher) prefix(rc *resourceCache) string {
	if m.namespace == "" {
		return rc.prefix()
	}
	return rc.prefix() + m.namespace + "/"
}

// list returns the page of objects, a snapshot, that the query q requests; the caller sets the Revision of the List. It returns the
// error of the context if that ends: comparing all objects with a selector of many requirements can take long.
func (m *matcher) list(ctx context.Context, rc *resourceCache, objects tree, q Query) (List, error) {
	var list List
	if m.nothing {
		return list, nil
	}
	start, end := m.bounds(rc, q.After)
	if m.name == "" && m.onlyNamespacedName {
		first := objects.rank(start)
		count := max(0, objects.rank(end)-first)
		if q.Limit > 0 && count > q.Limit {
			list.More, list.Remaining = true, count-q.Limit
			count = q.Limit
		}
		list.Objects = objects.slice(first, count)
		return list, nil
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
		m.filter(untilDone(ctx, objects.between(start, end)))(take)
		return list, ctx.Err()
	}
	for o := range untilDone(ctx, objects.from(start)) {
		if o.key >= end || m.mayMatch(o) && !take(o) {
			break
		}
	}
	return list, ctx.Err()
}

// doneInterval is the number of objects after which a list checks its context.
const doneInterval = 64

// untilDone returns the objects until the context ends.
func untilDone(ctx context.Context, objects iter.Seq[*Object]) iter.Seq[*Object] {
	return func(yield func(*Object) bool) {
		seen := 0
		for o := range objects {
			if seen++; seen%doneInterval == 0 && ctx.Err() != nil || !yield(o) {
				return
			}
		}
	}
}

// bounds returns the bounds of the selection's keys that are greater than after: start <= key < end.
func (m *matcher) bounds(rc *resourceCache, after string) (start, end string) {
	start = m.prefix(rc)
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

// successor returns the least string that is greater than all strings that start with prefix. prefix must not be empty or
// end with the byte 0xff.
func successor(prefix string) string {
	last := len(prefix) - 1
	return prefix[:last] + string([]byte{prefix[last] + 1})
}
