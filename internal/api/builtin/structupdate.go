package builtin

import (
	"cmp"
	"slices"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
)

// structUpdate is a struct to which defaulting rules are being applied. It collects the changes of all rules, so that the
// struct is copied only once.
type structUpdate struct {
	b          *fastdoc.Builder
	v          document.Value
	changes    []document.Field // changes contains the changed fields, with distinct names; an absent value removes the field.
	maxChanges int              // maxChanges is the maximum length that changes has had; release clears changes up to this length.
}

func (s *structUpdate) get(name string) document.Value {
	for i := range s.changes {
		if c := &s.changes[i]; c.Name == name {
			return c.Value
		}
	}
	return s.v.Get(name)
}

func (s *structUpdate) set(name string, v document.Value) {
	for i := range s.changes {
		if c := &s.changes[i]; c.Name == name {
			c.Value = v
			return
		}
	}
	s.changes = append(s.changes, document.Field{Name: name, Value: v})
}

// finish returns the struct with all changes, and clears the changes.
func (s *structUpdate) finish() document.Value {
	if len(s.changes) == 0 {
		return s.v
	}
	slices.SortFunc(s.changes, func(a, b document.Field) int { return cmp.Compare(a.Name, b.Name) })
	mark, next, count := s.b.Mark(), 0, s.v.Len()
	for _, c := range s.changes {
		from := next
		for next < count && s.v.Name(next) < c.Name {
			next++
		}
		s.b.PushAll(s.v, from, next)
		if next < count && s.v.Name(next) == c.Name {
			next++
		}
		s.b.Push(c.Name, c.Value)
	}
	s.b.PushAll(s.v, next, count)
	s.maxChanges = max(s.maxChanges, len(s.changes))
	s.changes = s.changes[:0]
	return s.b.Map(mark)
}

// release clears all references to documents, so that a pooled structUpdate does not retain their memory.
func (s *structUpdate) release() {
	clear(s.changes[:s.maxChanges])
	s.changes, s.v, s.maxChanges = s.changes[:0], document.Value{}, 0
}

// lookup returns the value at p in the struct, including the changes. If p is a sibling path and holder is not nil, p starts at
// holder instead of the struct.
func (s *structUpdate) lookup(p *path, holder *document.Value) document.Value {
	var v document.Value
	if p.sibling && holder != nil {
		v = holder.Get(p.names[0].name)
	} else {
		v = s.get(p.names[0].name)
	}
	for i := range p.names[1:] {
		v = v.Get(p.names[i+1].name)
	}
	return v
}

// hasOnlyField reports whether the struct has no changes and all its fields except name are null.
func (s *structUpdate) hasOnlyField(name string) bool {
	if len(s.changes) > 0 {
		return false
	}
	for i := range s.v.Len() {
		if other, value := s.v.Field(i); other != name && !value.IsNull() {
			return false
		}
	}
	return true
}
