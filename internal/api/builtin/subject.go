package builtin

import (
	"cmp"
	"slices"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
)

// subject is a struct while its rules are followed. What they change is gathered, so that the
// struct is built anew only once.
type subject struct {
	b       *fastdoc.Builder
	v       document.Value
	changes []document.Field // each name once; an absent value removes
	high    int              // how many changes there ever were
}

func (s *subject) get(name string) document.Value {
	for i := range s.changes {
		if c := &s.changes[i]; c.Name == name {
			return c.Value
		}
	}
	return s.v.Get(name)
}

func (s *subject) set(name string, v document.Value) {
	for i := range s.changes {
		if c := &s.changes[i]; c.Name == name {
			c.Value = v
			return
		}
	}
	s.changes = append(s.changes, document.Field{Name: name, Value: v})
}

// finish returns the struct with its changes.
func (s *subject) finish() document.Value {
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
	s.high = max(s.high, len(s.changes))
	s.changes = s.changes[:0]
	return s.b.Map(mark)
}

// release keeps nothing of the documents.
func (s *subject) release() {
	clear(s.changes[:s.high])
	s.changes, s.v, s.high = s.changes[:0], document.Value{}, 0
}

// lookup follows a path; the holder is the struct where one that leads to a neighbor starts, nil
// for the subject itself.
func (s *subject) lookup(p *path, holder *document.Value) document.Value {
	var v document.Value
	if p.neighbor && holder != nil {
		v = holder.Get(p.names[0].name)
	} else {
		v = s.get(p.names[0].name)
	}
	for i := range p.names[1:] {
		v = v.Get(p.names[i+1].name)
	}
	return v
}

// hasOnly tells whether there is no field but one.
func (s *subject) hasOnly(name string) bool {
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
