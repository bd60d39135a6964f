package watchcache

import (
	"fmt"
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// Selection says which objects of a kind are meant.
type Selection struct {
	Kind string // GROUP/RESOURCE
	// Namespace and Name select one of each; "" selects all.
	Namespace, Name string
	// Labels and Fields select further; nil selects all.
	Labels labels.Selector
	Fields fields.Selector
	// Match selects by what the cache does not know; nil selects all. It must say the same of an object
	// each time.
	Match func(*Object) bool
	// Foresee is told of the objects that Match will be asked about, some at a time, where there are many: in lists and in the
	// state that a watch begins with. What has to be found out about them can be found out together. It may be nil.
	Foresee func([]*Object)
}

// foreseen is how many objects are foreseen at once at most.
const foreseen = 100

// matcher is a selection in the form in which it is asked. nothing selects no object at all.
type matcher struct {
	namespace, name string
	labels          labels.Selector    // nil selects all
	fields          fields.Selector    // nil selects all
	match           func(*Object) bool // nil selects all
	foresee         func([]*Object)
	nothing         bool
	// topic is one that has all that is selected. onlyPlace says that namespace and name are
	// all that counts.
	topic     topicKey
	onlyPlace bool
}

// newMatcher checks a selection and finds out which topic has all that it selects.
func newMatcher(k *kind, s Selection) (matcher, error) {
	if !isKind(s.Kind) {
		return matcher{}, fmt.Errorf("cache: expected a kind such as apps/deployments, received %q", s.Kind)
	}
	m := matcher{namespace: s.Namespace, name: s.Name, match: s.Match, foresee: s.Foresee}
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
	m.onlyPlace = m.labels == nil && m.fields == nil && m.match == nil && !m.nothing
	return m, nil
}

// addFields checks that the kind has the fields, and takes out namespace and name.
func (m *matcher) addFields(k *kind, s fields.Selector) error {
	rest := len(s.Requirements()) == 0 // such as fields.Nothing
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

// equality returns a label or field that must have one value, if there is any.
func (m *matcher) equality(k *kind) attribute {
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

// matches reports whether the selection has the object; it does not have nil.
func (m *matcher) matches(o *Object) bool { return m.mayMatch(o) && (m.match == nil || m.match(o)) }

// mayMatch is matches but for what the cache does not know.
func (m *matcher) mayMatch(o *Object) bool {
	if o == nil || m.nothing {
		return false
	}
	if m.namespace != "" || m.name != "" {
		namespace, name := o.kind.place(o.key)
		if m.namespace != "" && m.namespace != namespace || m.name != "" && m.name != name {
			return false
		}
	}
	return (m.labels == nil || m.labels.Matches(labelsOf{o})) && (m.fields == nil || m.fields.Matches(fieldsOf{o}))
}

// of returns which of some objects the selection has.
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
			if next = append(next, o); len(next) == foreseen {
				if !m.tell(next, yield) {
					return
				}
				next = next[:0]
			}
		}
		m.tell(next, yield)
	}
}

// tell yields those of some objects that match, and reports whether more are wanted.
func (m *matcher) tell(next []*Object, yield func(*Object) bool) bool {
	if m.foresee != nil && len(next) > 0 {
		m.foresee(next)
	}
	for _, o := range next {
		if m.match(o) && !yield(o) {
			return false
		}
	}
	return true
}

// labelsOf and fieldsOf show an object to selectors.
type (
	labelsOf struct{ o *Object }
	fieldsOf struct{ o *Object }
)

func (l labelsOf) Has(key string) bool { _, ok := l.o.Label(key); return ok }

func (l labelsOf) Get(key string) string { value, _ := l.o.Label(key); return value }

func (l labelsOf) Lookup(key string) (value string, exists bool) { return l.o.Label(key) }

func (f fieldsOf) Has(name string) bool { _, ok := f.o.Field(name); return ok }

func (f fieldsOf) Get(name string) string { value, _ := f.o.Field(name); return value }

// prefix returns what the keys of all that a selection has begin with.
func (m *matcher) prefix(k *kind) string {
	if m.namespace == "" {
		return k.prefix()
	}
	return k.prefix() + m.namespace + "/"
}

// list goes through objects and takes those that a query asks for.
func (m *matcher) list(k *kind, objects tree, q Query) List {
	var list List
	if m.nothing {
		return list
	}
	start, end := m.bounds(k, q.After)
	if m.name == "" && m.onlyPlace {
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

// bounds returns between which keys all is that a selection has, after a key.
func (m *matcher) bounds(k *kind, after string) (start, end string) {
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

// successor returns what comes after all that begins with a text, which must not end with the
// highest byte.
func successor(prefix string) string {
	last := len(prefix) - 1
	return prefix[:last] + string([]byte{prefix[last] + 1})
}
