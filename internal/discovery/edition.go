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

// edition is the documents about some kinds. Each is made when it is first asked for, and kept.
type edition struct {
	kinds   []*api.Kind
	groups  []*group
	options Options

	mutex sync.Mutex
	pages map[string]func() (*page, error) // by what and in which form; each makes its page once

	// What is big is made one at a time, which takes less memory.
	making sync.Mutex

	// OpenAPI of version 3: which kinds each document is about, the documents that were made, and what makes them, which
	// is forgotten when memory is needed.
	about3 func() map[string][]served
	shelf  *shelf
	maker3 weak.Pointer[openAPI3]
}

// newEdition returns an edition. It puts what it makes on the shelf, where the next one finds it.
func newEdition(all []*api.Kind, options Options, shelf *shelf) *edition {
	return &edition{
		kinds: all, groups: groupsOf(all, options.Subresources), options: options, pages: map[string]func() (*page, error){}, shelf: shelf,
		about3: sync.OnceValue(func() map[string][]served { return about3(all) }),
	}
}

// page returns the page that is kept under a key, or makes it.
func (e *edition) page(key string, make func() (*page, error)) (*page, error) {
	e.mutex.Lock()
	kept := e.pages[key]
	if kept == nil {
		kept = sync.OnceValues(make)
		e.pages[key] = kept
	}
	e.mutex.Unlock()
	return kept()
}

// find returns what answers requests for a document, or nil.
func (e *edition) find(address string) http.HandlerFunc {
	parts := strings.Split(address[1:], "/")
	switch {
	case address == "/version":
		return e.answerVersion
	case parts[0] == "openapi":
		return e.findOpenAPI(strings.TrimPrefix(address, "/openapi/"))
	case address == "/api":
		return e.answerRoot(address, func(g *group) bool { return g.name == "" }, func() runtime.Object { return coreVersions(e.groups, e.options.Address) })
	case address == "/apis":
		return e.answerRoot(address, func(g *group) bool { return g.name != "" }, func() runtime.Object { return groupList(e.groups) })
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

func (e *edition) findGroup(address, name string) http.HandlerFunc {
	g := findGroup(e.groups, name)
	if g == nil {
		return nil
	}
	return e.answerDiscovery(address, func() runtime.Object { return g.document() })
}

func (e *edition) findResources(address, groupName, version string) http.HandlerFunc {
	g := findGroup(e.groups, groupName)
	if g == nil || !slices.Contains(g.versions, version) {
		return nil
	}
	return e.answerDiscovery(address, func() runtime.Object { return g.resourceList(version) })
}

func (e *edition) answerVersion(w http.ResponseWriter, r *http.Request) {
	e.answer(w, r, "/version", func() (*page, error) {
		return newPage(mediaJSON, func(w io.Writer) error { return encodeJSON(w, e.options.Version) })
	})
}

// answerRoot answers requests for all groups that are meant: aggregated if the client knows that,
// else as it was before.
func (e *edition) answerRoot(address string, meant func(*group) bool, before func() runtime.Object) http.HandlerFunc {
	otherwise := e.answerDiscovery(address, before)
	return func(w http.ResponseWriter, r *http.Request) {
		form, parameters, ok := choose(r.Header.Get("Accept"), aggregatedMedia(), wantsAggregated)
		if !ok {
			otherwise(w, r)
			return
		}
		version := parameters["v"]
		w.Header().Set("Cache-Control", "public")
		e.answer(w, r, address+" "+version+" "+form, func() (*page, error) {
			groups := slices.DeleteFunc(slices.Clone(e.groups), func(g *group) bool { return !meant(g) })
			mediaType := form + ";g=" + aggregatedGroup + ";v=" + version + ";as=" + aggregatedKind
			return newPage(mediaType, func(w io.Writer) error { return encode(w, aggregated(groups, version), form) })
		})
	}
}

// answerDiscovery answers requests for a document about the API.
func (e *edition) answerDiscovery(address string, make func() runtime.Object) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		form, _, ok := choose(r.Header.Get("Accept"), encoding.MediaTypes(), plain)
		if !ok {
			refuse(w, r, metav1.Status{
				Code: http.StatusNotAcceptable, Reason: metav1.StatusReasonNotAcceptable,
				Message: "only the following media types are accepted: " + strings.Join(encoding.MediaTypes(), ", "),
			})
			return
		}
		e.answer(w, r, address+" "+form, func() (*page, error) {
			return newPage(form, func(w io.Writer) error { return encode(w, make(), form) })
		})
	}
}

// answer sends the page that is kept under a key, or made now.
func (e *edition) answer(w http.ResponseWriter, r *http.Request, key string, make func() (*page, error)) {
	p, err := e.page(key, make)
	if err != nil {
		refuse(w, r, metav1.Status{
			Code: http.StatusInternalServerError, Reason: metav1.StatusReasonInternalError, Message: "the document could not be made: " + err.Error(),
		})
		return
	}
	p.send(w, r)
}

// refuse answers with a Status, in the encoding that the client accepts.
func refuse(w http.ResponseWriter, r *http.Request, status metav1.Status) {
	status.Status = metav1.StatusFailure
	format := encoding.NegotiateStatus(r.Header.Get("Accept"), r.URL.RawQuery, r.UserAgent())
	body, err := encoding.AppendStatus(nil, format, &status)
	if err != nil {
		panic(err) // every encoding has a Status
	}
	w.Header().Set("Content-Type", format.ContentType())
	w.WriteHeader(int(status.Code))
	_, _ = w.Write(body) // the client may be gone
}
