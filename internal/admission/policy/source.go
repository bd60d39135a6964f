package policy

import (
	"log/slog"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// source holds the policies of one kind that have bindings. E is the type of their compiled expressions. load and mayMatch are
// safe for concurrent use; the other methods must not be called concurrently.
type source[E any] struct {
	// kind is the kind of the policies, for log messages.
	kind          string
	log           *slog.Logger
	decode        func(text []byte) (*policy[E], error)
	decodeBinding func(text []byte) (*binding, error)
	// bound are the policies that have bindings, in the order of evaluation; nil if there are none.
	bound atomic.Pointer[[]*policy[E]]
	// definitions and bindings are the stored policies and bindings, by name. decoded caches the policies decoded from
	// definitions.
	definitions, bindings map[string]*watchcache.Object
	decoded               map[string]*policy[E]
}

func newSource[E any](kind string, log *slog.Logger, decode func([]byte) (*policy[E], error), decodeBinding func([]byte) (*binding, error)) *source[E] {
	return &source[E]{kind: kind, log: log, decode: decode, decodeBinding: decodeBinding, decoded: map[string]*policy[E]{}}
}

// load returns the policies that have bindings, in the order of evaluation.
func (s *source[E]) load() []*policy[E] {
	if bound := s.bound.Load(); bound != nil {
		return *bound
	}
	return nil
}

// mayMatch reports whether one of the policies can match an operation on a resource. Reviews such as SubjectAccessReviews, which
// are never stored, are exempt, as in kube-apiserver.
func (s *source[E]) mayMatch(operation admission.Operation, r admission.Resource) bool {
	return !r.Review && slices.ContainsFunc(s.load(), func(one *policy[E]) bool { return one.criteria.MayMatch(r, operation) })
}

func (s *source[E]) setPolicies(objects map[string]*watchcache.Object) {
	s.definitions = maps.Clone(objects)
	s.bind()
}

func (s *source[E]) setBindings(objects map[string]*watchcache.Object) {
	s.bindings = maps.Clone(objects)
	s.bind()
}

// bind sets bound from definitions and bindings.
func (s *source[E]) bind() {
	bindings := s.bindingsByPolicy()
	var all []*policy[E]
	for _, name := range slices.Sorted(maps.Keys(s.definitions)) {
		if of := bindings[name]; len(of) > 0 {
			if one := s.policy(s.definitions[name]); one != nil {
				all = append(all, one.with(of))
			}
		}
	}
	maps.DeleteFunc(s.decoded, func(name string, _ *policy[E]) bool { return s.definitions[name] == nil })
	if all == nil {
		s.bound.Store(nil)
		return
	}
	s.bound.Store(&all)
}

// policy returns the policy decoded from a definition; nil if it cannot be decoded. For an unchanged definition it returns
// the cached policy, whose expressions are compiled already.
func (s *source[E]) policy(definition *watchcache.Object) *policy[E] {
	name := definition.Name()
	if cached := s.decoded[name]; cached != nil && cached.from == definition {
		return cached
	}
	one, err := s.decode(definition.JSONWithoutManagedFields())
	if err != nil {
		s.log.Error("ignoring admission policy that cannot be decoded", "kind", s.kind, "key", definition.Key(), "error", err)
		return nil
	}
	one.from = definition
	s.decoded[name] = one
	return one
}

// bindingsByPolicy returns the bindings of each policy by the name of the policy, sorted by the name of the binding.
func (s *source[E]) bindingsByPolicy() map[string][]*binding {
	bound := map[string][]*binding{}
	for _, name := range slices.Sorted(maps.Keys(s.bindings)) {
		b, err := s.decodeBinding(s.bindings[name].JSONWithoutManagedFields())
		if err != nil {
			s.log.Error("ignoring admission policy binding that cannot be decoded", "kind", s.kind+"Binding", "key", s.bindings[name].Key(), "error", err)
			continue
		}
		bound[b.policyName] = append(bound[b.policyName], b)
	}
	return bound
}
