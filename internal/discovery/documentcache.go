package discovery

import "sync"

// documentCache caches the OpenAPI v3 documents across snapshots, by name. A document with another hash replaces the
// cached one.
type documentCache struct {
	mutex     sync.Mutex
	documents map[string]*cachedDocument
}

// cachedDocument is a document that is built once, with the hash of its inputs.
type cachedDocument struct {
	hash string
	page func() (*page, error)
}

func newDocumentCache() *documentCache {
	return &documentCache{documents: map[string]*cachedDocument{}}
}

// page returns the document with a name and hash, building it with write if necessary.
func (s *documentCache) page(name, hash string, write func() (*page, error)) (*page, error) {
	s.mutex.Lock()
	found := s.documents[name]
	if found == nil || found.hash != hash {
		found = &cachedDocument{hash, sync.OnceValues(write)}
		s.documents[name] = found
	}
	s.mutex.Unlock()
	return found.page()
}

// retain removes the documents whose names no longer exist.
func (s *documentCache) retain(exists func(name string) bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for name := range s.documents {
		if !exists(name) {
			delete(s.documents, name)
		}
	}
}
