package discovery

import "sync"

// shelf keeps the documents of OpenAPI of version 3 from one edition to the next, until there is another of the
// same name.
type shelf struct {
	mutex sync.Mutex
	kept  map[string]*shelved
}

// shelved is a document, which is made once, and the hash of what it is made of.
type shelved struct {
	hash string
	page func() (*page, error)
}

func newShelf() *shelf { return &shelf{kept: map[string]*shelved{}} }

// page returns the document of a name and hash, or has it written.
func (s *shelf) page(name, hash string, write func() (*page, error)) (*page, error) {
	s.mutex.Lock()
	found := s.kept[name]
	if found == nil || found.hash != hash {
		found = &shelved{hash, sync.OnceValues(write)}
		s.kept[name] = found
	}
	s.mutex.Unlock()
	return found.page()
}

// retain throws away the documents of names that there are no longer.
func (s *shelf) retain(exists func(name string) bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for name := range s.kept {
		if !exists(name) {
			delete(s.kept, name)
		}
	}
}
