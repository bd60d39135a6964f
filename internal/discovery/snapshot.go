package discovery

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"weak"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/encoding"
)

// snapshot holds the discovery and OpenAPI documents of a set of kinds. Each document is built on first request and cached.
// It is safe for concurrent use.
type snapshot struct {
	kinds   []*api.Kind
	groups  []*group
	options Options

	mutex sync.Mutex
	pages map[string]func() (*page, error) // pages maps a path and media type to a function that builds the page once.

	// building serializes the construction of large documents, which limits the peak memory.
	building sync.Mutex

	// kindsByDocument returns the kinds that each OpenAPI v3 document describes, by the document's name. cache holds the
	// documents that have been built. builder3 builds documents; the garbage collector may free it between requests.
	kindsByDocument func() map[string][]kindVersion
	cache           *documentCache
	builder3        weak.Pointer[openAPI3Builder]
}

// newSnapshot returns a snapshot of the kinds in all. All snapshots of a catalog share cache, so that they reuse unchanged
// documents.
func newSnapshot(all []*api.Kind, options Options, cache *documentCache) *snapshot {
	return &snapshot{
		kinds: all, groups: groupsOf(all, options.Subresources), options: options, pages: map[string]func() (*page, error){}, cache: cache,
		kindsByDocument: sync.OnceValue(func() map[string][]kindVersion { return kindsByDocument(all) }),
	}
}

// page returns the page that is cached under key. If there is none, page calls build and caches the result.
func (s *snapshot) page(key string, build func() (*page, error)) (*page, error) {
	s.mutex.Lock()
	cached := s.pages[key]
	if cached == nil {
		cached = sync.OnceValues(build)
		s.pages[key] = cached
	}
	s.mutex.Unlock()
	return cached()
}

// find returns the handler for the document at a path; nil if there is no such document.
func (s *snapshot) find(address string) http.HandlerFunc {
	parts := strings.Split(address[1:], "/")
	switch {
	case address == "/version":
		return s.serveVersion
	case parts[0] == "openapi":
		return s.findOpenAPI(strings.TrimPrefix(address, "/openapi/"))
	case address == "/api":
		return s.serveRoot(address, func(g *group) bool { return g.name == "" }, func() runtime.Object { return coreVersions(s.groups, s.options.Address) })
	case address == "/apis":
		return s.serveRoot(address, func(g *group) bool { return g.name != "" }, func() runtime.Object { return groupList(s.groups) })
	case parts[0] == "api" && len(parts) == 2:
		return s.findResources(address, "", parts[1])
	case parts[0] == "apis" && len(parts) > 1 && parts[1] != "":
		if len(parts) == 2 {
			return s.findGroup(address, parts[1])
		}
		return s.findResources(address, parts[1], parts[2])
	}
	return nil
}

func (s *snapshot) findGroup(address, name string) http.HandlerFunc {
	g := findGroup(s.groups, name)
	if g == nil {
		return nil
	}
	return s.serveDiscovery(address, func() runtime.Object { return g.document() })
}

func (s *snapshot) findResources(address, groupName, version string) http.HandlerFunc {
	g := findGroup(s.groups, groupName)
	if g == nil || !slices.Contains(g.versions, version) {
		return nil
	}
	return s.serveDiscovery(address, func() runtime.Object { return g.resourceList(version) })
}

func (s *snapshot) serveVersion(w http.ResponseWriter, r *http.Request) {
	s.serve(w, r, "/version", func() (*page, error) {
		return newPage(mediaJSON, func(w io.Writer) error { return encodeJSON(w, s.options.Version) })
	})
}

// serveRoot returns the handler for /api or /apis. If the client accepts aggregated discovery, the handler serves the
// aggregated document of the groups for which includes returns true. If not, it serves the document that unaggregated returns.
func (s *snapshot) serveRoot(address string, includes func(*group) bool, unaggregated func() runtime.Object) http.HandlerFunc {
	serveUnaggregated := s.serveDiscovery(address, unaggregated)
	return func(w http.ResponseWriter, r *http.Request) {
		form, parameters, ok := choose(r.Header.Get("Accept"), encoding.MediaTypes(), selectsAggregated)
		if !ok {
			serveUnaggregated(w, r)
			return
		}
		version := parameters["v"]
		w.Header().Set("Cache-Control", "public")
		s.serve(w, r, address+" "+version+" "+form, func() (*page, error) {
			groups := slices.DeleteFunc(slices.Clone(s.groups), func(g *group) bool { return !includes(g) })
			mediaType := form + ";g=" + aggregatedGroup + ";v=" + version + ";as=" + aggregatedKind
			return newPage(mediaType, func(w io.Writer) error { return encode(w, aggregated(groups, version), form) })
		})
	}
}

// serveDiscovery returns the handler for an unaggregated discovery document, which build builds. It responds with 406 if the
// client accepts none of the supported media types.
func (s *snapshot) serveDiscovery(address string, build func() runtime.Object) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		form, _, ok := choose(r.Header.Get("Accept"), encoding.MediaTypes(), hasNoShape)
		if !ok {
			writeStatus(w, r, metav1.Status{
				Code: http.StatusNotAcceptable, Reason: metav1.StatusReasonNotAcceptable,
				Message: "only the following media types are accepted: " + strings.Join(encoding.MediaTypes(), ", "),
			})
			return
		}
		s.serve(w, r, address+" "+form, func() (*page, error) {
			return newPage(form, func(w io.Writer) error { return encode(w, build(), form) })
		})
	}
}

// serve sends the page that is cached under key. If there is none, it calls build and caches the result; it sends an error of
// build as a Status with code 500.
func (s *snapshot) serve(w http.ResponseWriter, r *http.Request, key string, build func() (*page, error)) {
	p, err := s.page(key, build)
	if err != nil {
		writeStatus(w, r, metav1.Status{
			Code: http.StatusInternalServerError, Reason: metav1.StatusReasonInternalError, Message: "building the document: " + err.Error(),
		})
		return
	}
	p.send(w, r)
}

// writeStatus responds with a failure Status in an encoding that the client accepts, or else in JSON.
func writeStatus(w http.ResponseWriter, r *http.Request, status metav1.Status) {
	status.Status = metav1.StatusFailure
	format := encoding.NegotiateStatus(r.Header.Get("Accept"), r.URL.RawQuery, r.UserAgent())
	body, err := encoding.AppendStatus(nil, format, &status)
	if err != nil {
		panic(err) // unreachable: every encoding supports Status
	}
	w.Header().Set("Content-Type", format.ContentType())
	w.WriteHeader(int(status.Code))
	_, _ = w.Write(body) // the client may have disconnected
}
