package discovery

import (
	"net/http"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"

	"github.com/cadastre/cadastre/internal/api"
)

// Options are the properties of a server that its discovery and OpenAPI documents contain. The zero value is valid.
type Options struct {
	// Address is the serverAddress, a host and port, in the document at /api.
	Address string
	// Version is the content of the document at /version; see [Version].
	Version version.Info
	// Drop makes the OpenAPI documents declare the parameters by which clients can omit managedFields from responses.
	Drop bool
	// Unset makes the OpenAPI documents declare that apply supports unset markers.
	Unset bool
	// Subresources describes the subresources that the server implements. The documents omit subresources of a kind that are
	// not in this list.
	Subresources []api.SubresourceInfo
}

// Catalog serves the discovery and OpenAPI documents and the version of a server. It is safe for concurrent use.
type Catalog struct {
	register *api.Register
	options  Options

	mutex   sync.Mutex
	current *snapshot
	cache   *documentCache
}

// New returns a catalog of the kinds in register. Its documents always describe the current contents of the register. Each
// document is built when it is first requested.
func New(register *api.Register, options Options) *Catalog {
	return &Catalog{register: register, options: options, cache: newDocumentCache()}
}

// snapshot returns the snapshot of the currently registered kinds. It creates a new snapshot if the register has changed since
// the previous call.
func (c *Catalog) snapshot() *snapshot {
	all := c.register.All()
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.current == nil || !isSameSlice(c.current.kinds, all) {
		c.current = newSnapshot(all, c.options, c.cache)
	}
	return c.current
}

// isSameSlice reports whether a and b, two results of Register.All, are the same slice. They are not if the register has
// changed between the two calls.
func isSameSlice(a, b []*api.Kind) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// ServeHTTP serves documents of the catalog. It responds with 404 to requests for other paths.
func (c *Catalog) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !c.Serve(w, r) {
		http.NotFound(w, r)
	}
}

// Serve serves the document at the request's path and returns true. If the catalog has no such document, Serve returns false
// without writing a response. As in Kubernetes, paths of discovery documents may end with a slash, and those of OpenAPI documents may
// not.
func (c *Catalog) Serve(w http.ResponseWriter, r *http.Request) bool {
	address, slash := strings.CutSuffix(r.URL.Path, "/")
	if !mayServe(address) || slash && strings.HasPrefix(address, "/openapi/") {
		return false
	}
	answer := c.snapshot().find(address)
	if answer == nil {
		return false
	}
	if r.Method != http.MethodGet && isGetOnly(address) {
		w.Header().Set("Allow", "GET")
		writeStatus(w, r, metav1.Status{
			Code: http.StatusMethodNotAllowed, Reason: metav1.StatusReasonMethodNotAllowed,
			Message: "the server does not allow this method on the requested resource", Details: &metav1.StatusDetails{},
		})
		return true
	}
	w.Header().Set("Cache-Control", "no-cache, private")
	answer(w, r)
	return true
}

// isGetOnly reports whether the document at the path address supports only GET. As in Kubernetes, all other documents are
// served for every method.
func isGetOnly(address string) bool {
	version := strings.HasPrefix(address, "/apis/") && strings.Count(address, "/") == 3
	return version || address == "/api" || strings.HasPrefix(address, "/api/") || address == "/version"
}

// mayServe reports whether address can be the path of a document. It is a fast check, because nearly all requests are for
// objects instead.
func mayServe(address string) bool {
	switch {
	case strings.HasPrefix(address, "/apis"):
		return strings.Count(address, "/") <= 3
	case strings.HasPrefix(address, "/api"):
		return strings.Count(address, "/") <= 2
	}
	return address == "/version" || strings.HasPrefix(address, "/openapi/")
}
