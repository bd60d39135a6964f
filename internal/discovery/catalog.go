package discovery

import (
	"net/http"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"

	"github.com/cadastre/cadastre/internal/api"
)

// Options are what a server tells about itself. The zero value tells little.
type Options struct {
	// Address is the host and port that clients should use.
	Address string
	// Version is what /version answers; see [Version].
	Version version.Info
	// Drop says that answers may leave out managedFields.
	Drop bool
	// Unset says that applies understand unset markers.
	Unset bool
	// Subresources describes the subresources that the server implements. Others are left out of the documents.
	Subresources []api.SubresourceInfo
}

// Catalog tells what a server serves: discovery, OpenAPI, version. It may be used concurrently.
type Catalog struct {
	register *api.Register
	options  Options

	mutex sync.Mutex
	now   *edition
	shelf *shelf
}

// New returns the catalog of the kinds in a register. It follows the register: what is served
// is always about the kinds that there are. Nothing is made before it is asked for.
func New(register *api.Register, options Options) *Catalog {
	return &Catalog{register: register, options: options, shelf: newShelf()}
}

// edition returns the documents about the kinds that there are now.
func (c *Catalog) edition() *edition {
	all := c.register.All()
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.now == nil || !same(c.now.kinds, all) {
		c.now = newEdition(all, c.options, c.shelf)
	}
	return c.now
}

// same reports whether two lists of a register are one: a register that changes makes a new list.
func same(a, b []*api.Kind) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// ServeHTTP answers requests for documents of the catalog, and all others with 404.
func (c *Catalog) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !c.Serve(w, r) {
		http.NotFound(w, r)
	}
}

// Serve answers a request for a document of the catalog. It returns false, and has not touched the
// response, if there is no such document.
func (c *Catalog) Serve(w http.ResponseWriter, r *http.Request) bool {
	address := strings.TrimSuffix(r.URL.Path, "/")
	if !mayServe(address) {
		return false
	}
	answer := c.edition().find(address)
	if answer == nil {
		return false
	}
	if r.Method != http.MethodGet && mindsMethod(address) {
		w.Header().Set("Allow", "GET")
		refuse(w, r, metav1.Status{
			Code: http.StatusMethodNotAllowed, Reason: metav1.StatusReasonMethodNotAllowed,
			Message: "the server does not allow this method on the requested resource", Details: &metav1.StatusDetails{},
		})
		return true
	}
	w.Header().Set("Cache-Control", "no-cache, private")
	answer(w, r)
	return true
}

// mindsMethod reports whether a document is only for who reads. Others are answered whatever is done to them, as in Kubernetes.
func mindsMethod(address string) bool {
	version := strings.HasPrefix(address, "/apis/") && strings.Count(address, "/") == 3
	return version || address == "/api" || strings.HasPrefix(address, "/api/") || address == "/version"
}

// mayServe sorts out, at no cost, requests for objects: these are nearly all that a server gets.
func mayServe(address string) bool {
	switch {
	case strings.HasPrefix(address, "/apis"):
		return strings.Count(address, "/") <= 3
	case strings.HasPrefix(address, "/api"):
		return strings.Count(address, "/") <= 2
	}
	return address == "/version" || strings.HasPrefix(address, "/openapi/")
}
