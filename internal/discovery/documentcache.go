package discovery

import "sync"

// documentCache caches OpenAPI v3 documents by name, for all snapshots. It holds one document per name: a document with a
// new hash replaces the cached document. It is safe for concurrent use.
type documentCache struct {
	mutex     sync.Mutex
	documents map[string]*cachedDocument
}

// cachedDocument is an OpenAPI v3 document with the hash of its inputs. The first call of page builds the document.
type cachedDocument struct {
	hash string
	page func() (*page, error)
}

func newDocumentCache() *documentCache {
	return &documentCache{documents: map[string]*cachedDocument{}}
}

// page returns the document with the given name and hash. If it is not cached, page calls write to build it and caches the
// result.
func (c *documentCache) page(name, hash string, write func() (*page, error)) (*page, error) {
	c.mutex.Lock()
	found := c.documents[name]
	if found == nil || found.hash != hash {
		found = &cachedDocument{hash, sync.OnceValues(write)}
		c.documents[name] = found
	}
	c.mutex.Unlock()
	return found.page()
}

// retain removes the documents that no longer exist; exists reports whether the document with a name exists.
func (c *documentCache) retain(exists func(name string) bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for name := range c.documents {
		if !exists(name) {
			delete(c.documents, name)
		}
	}
}
