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

// snapshot holds the documents of a set of kinds. Each is built on first request and cached.
type snapshot struct {
	kinds   []*api.Kind
	groups  []*group
	options Options

	mutex sync.Mutex
	pages map[string]func() (*page, error) // by document and media type; each function builds its page once

	// building serializes the construction of large documents, which limits the peak memory.
	building sync.Mutex

	// kindsByDocument are the kinds of each OpenAPI v3 document; cache holds the built documents; builder3 builds them,
	// and is released under memory pressure.
	kindsByDocument func() map[string][]kindVersion
	cache           *documentCache
	builder3        weak.Pointer[openAPI3Builder]
}

// newSnapshot returns a snapshot. It shares cache with later snapshots.
func newSnapshot(all []*api.Kind, options Options, shelf *documentCache) *snapshot {
	return &snapshot{
		kinds: all, groups: groupsOf(all, options.Subresources), options: options, pages: map[string]func() (*page, error){}, cache: shelf,
		kindsByDocument: sync.OnceValue(func() map[string][]kindVersion { return kindsByDocument(all) }),
	}
}

// page returns the page cached under a key, building it if necessary.
func (e *snapshot) page(key string, make func() (*page, error)) (*page, error) {
	e.mutex.Lock()
	kept := e.pages[key]
	if kept == nil {
		kept = sync.OnceValues(make)
		e.pages[key] = kept
	}
	e.mutex.Unlock()
	return kept()
}

// find returns the handler of a document's path; nil if there is none.
func (e *snapshot) find(address string) http.HandlerFunc {
	parts := strings.Split(address[1:], "/")
	switch {
	case address == "/version":
		return e.serveVersion
	case parts[0] == "openapi":
		return e.findOpenAPI(strings.TrimPrefix(address, "/openapi/"))
	case address == "/api":
		return e.serveRoot(address, func(g *group) bool { return g.name == "" }, func() runtime.Object { return coreVersions(e.groups, e.options.Address) })
	case address == "/apis":
		return e.serveRoot(address, func(g *group) bool { return g.name != "" }, func() runtime.Object { return groupList(e.groups) })
	case parts[0] == "api" && len(parts) == 2:
		return e.findResources(address, "", parts[1])
	case parts[0] == "apis" && len(parts) > 1 && parts[1] != "":
		if len(parts) == 2 {
			return e.findGroup(address, parts[1])
		}
		return e.findResources(address, parts[1], parts[2])
	}
	return nil
}

func (e *snapshot) findGroup(address, name string) http.HandlerFunc {
	g := findGroup(e.groups, name)
	if g == nil {
		return nil
	}
	return e.serveDiscovery(address, func() runtime.Object { return g.document() })
}

func (e *snapshot) findResources(address, groupName, version string) http.HandlerFunc {
	g := findGroup(e.groups, groupName)
	if g == nil || !slices.Contains(g.versions, version) {
		return nil
	}
	return e.serveDiscovery(address, func() runtime.Object { return g.resourceList(version) })
}

func (e *snapshot) serveVersion(w http.ResponseWriter, r *http.Request) {
	e.serve(w, r, "/version", func() (*page, error) {
		return newPage(mediaJSON, func(w io.Writer) error { return encodeJSON(w, e.options.Version) })
	})
}

// serveRoot returns the handler for selected groups: aggregated if the client accepts it, otherwise unaggregated.
func (e *snapshot) serveRoot(address string, meant func(*group) bool, before func() runtime.Object) http.HandlerFunc {
	otherwise := e.serveDiscovery(address, before)
	return func(w http.ResponseWriter, r *http.Request) {
		form, parameters, ok := choose(r.Header.Get("Accept"), aggregatedMedia(), selectsAggregated)
		if !ok {
			otherwise(w, r)
			return
		}
		version := parameters["v"]
		w.Header().Set("Cache-Control", "public")
		e.serve(w, r, address+" "+version+" "+form, func() (*page, error) {
			groups := slices.DeleteFunc(slices.Clone(e.groups), func(g *group) bool { return !meant(g) })
			mediaType := form + ";g=" + aggregatedGroup + ";v=" + version + ";as=" + aggregatedKind
			return newPage(mediaType, func(w io.Writer) error { return encode(w, aggregated(groups, version), form) })
		})
	}
}

// serveDiscovery returns the handler for a discovery document.
func (e *snapshot) serveDiscovery(address string, make func() runtime.Object) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		form, _, ok := choose(r.Header.Get("Accept"), encoding.MediaTypes(), hasNoShape)
		if !ok {
			writeStatus(w, r, metav1.Status{
				Code: http.StatusNotAcceptable, Reason: metav1.StatusReasonNotAcceptable,
				Message: "only the following media types are accepted: " + strings.Join(encoding.MediaTypes(), ", "),
			})
			return
		}
		e.serve(w, r, address+" "+form, func() (*page, error) {
			return newPage(form, func(w io.Writer) error { return encode(w, make(), form) })
		})
	}
}

// serve sends the page cached under a key, building it if necessary.
func (e *snapshot) serve(w http.ResponseWriter, r *http.Request, key string, make func() (*page, error)) {
	p, err := e.page(key, make)
	if err != nil {
		writeStatus(w, r, metav1.Status{
			Code: http.StatusInternalServerError, Reason: metav1.StatusReasonInternalError, Message: "building the document: " + err.Error(),
		})
		return
	}
	p.send(w, r)
}

// writeStatus responds with a Status, in the encoding that the client accepts.
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
