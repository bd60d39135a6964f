package discovery

import "sync"

// documentCache caches the OpenAPI v3 documents across snapshots, by name. A document with another hash replaces the
// cached one.
type shelf struct {
	mutex sync.Mutex
	kept  map[string]*shelved
}

// cachedDocument is a document that is built once, with the hash of its inputs.
type shelved struct {
	hash string
	page func() (*page, error)
}

func newShelf() *shelf { return &shelf{kept: map[string]*shelved{}} }

// page returns the document with a name and hash, building it with write if necessary.
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

// retain removes the documents whose names no longer exist.
func (s *shelf) retain(exists func(name string) bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for name := range s.kept {
		if !exists(name) {
			delete(s.kept, name)
		}
	}
}
