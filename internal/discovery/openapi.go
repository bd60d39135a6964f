package discovery

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
	"weak"

	openapi_v3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/proto"
)

// findOpenAPI returns the handler of an OpenAPI document; nil if there is none.
func (e *snapshot) findOpenAPI(name string) http.HandlerFunc {
	switch {
	case name == "v2":
		return e.serveOpenAPI2
	case name == "v3":
		return e.serveIndex3
	}
	name, ok := strings.CutPrefix(name, "v3/")
	if !ok || !e.hasDocument3(name) {
		return nil
	}
	return func(w http.ResponseWriter, r *http.Request) { e.serveOpenAPI3(w, r, name) }
}

func (e *snapshot) hasDocument3(name string) bool {
	_, has := e.kindsByDocument()[name]
	return has
}

func (e *snapshot) serveOpenAPI2(w http.ResponseWriter, r *http.Request) {
	form, _, ok := choose(r.Header.Get("Accept"), []string{mediaJSON, mediaOpenAPI2Old, mediaOpenAPI2}, acceptsAnyParameters)
	if !ok {
		w.Header().Add("Vary", "Accept")
		w.WriteHeader(http.StatusNotAcceptable)
		return
	}
	write := writeOpenAPI2
	if form != mediaJSON {
		form, write = mediaOpenAPI2, writeOpenAPI2Proto
	}
	e.serve(w, r, "/openapi/v2 "+form, func() (*page, error) {
		e.building.Lock()
		defer e.building.Unlock()
		return newPage(form, func(w io.Writer) error { return write(w, e.kinds, e.options) })
	})
}

// index3 is the document at /openapi/v3: the URLs of the documents.
type index3 struct {
	Paths map[string]address3 `json:"paths"`
}

// address3 is the URL of an OpenAPI v3 document, with the hash of its content, so that clients can cache the document
// indefinitely.
type address3 struct {
	ServerRelativeURL string `json:"serverRelativeURL"`
}

func hashedURL(name, hash string) string {
	u := url.URL{Path: "/openapi/v3/" + name, RawQuery: url.Values{"hash": {hash}}.Encode()}
	return u.String()
}

func (e *snapshot) serveIndex3(w http.ResponseWriter, r *http.Request) {
	e.serve(w, r, "/openapi/v3", func() (*page, error) {
		index := index3{map[string]address3{}}
		for name := range e.kindsByDocument() {
			index.Paths[name] = address3{hashedURL(name, e.documentHash(name))}
		}
		e.cache.retain(func(name string) bool { return e.hasDocument3(strings.TrimSuffix(name, protoSuffix)) })
		return newPage(mediaJSON, func(w io.Writer) error { return encodeJSON(w, index) })
	})
}

func (e *snapshot) serveOpenAPI3(w http.ResponseWriter, r *http.Request, name string) {
	form, _, ok := choose(r.Header.Get("Accept"), []string{mediaJSON, mediaOpenAPI3, mediaOpenAPI3Old}, acceptsAnyParameters)
	if !ok {
		w.Header().Add("Vary", "Accept")
		w.WriteHeader(http.StatusNotAcceptable)
		return
	}
	p, err := e.document3(name, form)
	if err != nil {
		e.serve(w, r, name, func() (*page, error) { return nil, err })
		return
	}
	if hash := r.URL.Query().Get("hash"); hash == p.etag {
		w.Header().Set("Cache-Control", "public, immutable")
		w.Header().Set("Expires", time.Now().AddDate(1, 0, 0).UTC().Format(http.TimeFormat))
	} else if hash != "" {
		w.Header().Add("Vary", "Accept")
		http.Redirect(w, r, hashedURL(name, p.etag), http.StatusMovedPermanently)
		return
	}
	p.send(w, r)
}

// document3 returns an OpenAPI v3 document in a media type.
func (e *snapshot) document3(name, form string) (*page, error) {
	hash := e.documentHash(name)
	document, err := e.cache.page(name, hash, func() (*page, error) { return e.buildDocument3(name, hash) })
	if err != nil || form == mediaJSON {
		return document, err
	}
	return e.cache.page(name+protoSuffix, hash, func() (*page, error) {
		e.building.Lock()
		defer e.building.Unlock()
		return protoDocument3(document)
	})
}

// buildDocument3 builds an OpenAPI v3 document as JSON. Definitions that several documents share are built once for
// concurrent requests.
func (e *snapshot) buildDocument3(name, hash string) (*page, error) {
	e.building.Lock()
	defer e.building.Unlock()
	maker := e.builder3.Value()
	if maker == nil {
		maker = newOpenAPI3Builder(e.kinds, e.options)
		e.builder3 = weak.Make(maker)
	}
	made, err := newPage(mediaJSON, func(w io.Writer) error { return maker.write(w, name) })
	if err != nil {
		return nil, fmt.Errorf("OpenAPI document %s: %w", name, err)
	}
	made.etag = hash
	return made, nil
}

// protoSuffix is the suffix of protobuf documents in cache keys.
const protoSuffix = " proto"

// protoDocument3 converts a document from JSON to protobuf. It keeps the hash, because the URL is the same for both.
func protoDocument3(of *page) (*page, error) {
	document, err := openapi_v3.ParseDocument(of.content())
	if err != nil {
		return nil, err
	}
	made, err := newPage(mediaOpenAPI3, func(w io.Writer) error {
		text, err := proto.MarshalOptions{Deterministic: true}.Marshal(document)
		if err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	})
	if err != nil {
		return nil, err
	}
	made.etag, made.modified = of.etag, of.modified
	return made, nil
}
