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

// findOpenAPI returns the handler of the document at /openapi/NAME; nil if there is none.
func (s *snapshot) findOpenAPI(name string) http.HandlerFunc {
	switch {
	case name == "v2":
		return s.serveOpenAPI2
	case name == "v3":
		return s.serveIndex3
	}
	name, ok := strings.CutPrefix(name, "v3/")
	if !ok || !s.hasDocument3(name) {
		return nil
	}
	return func(w http.ResponseWriter, r *http.Request) { s.serveOpenAPI3(w, r, name) }
}

func (s *snapshot) hasDocument3(name string) bool {
	_, has := s.kindsByDocument()[name]
	return has
}

func (s *snapshot) serveOpenAPI2(w http.ResponseWriter, r *http.Request) {
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
	s.serve(w, r, "/openapi/v2 "+form, func() (*page, error) {
		s.building.Lock()
		defer s.building.Unlock()
		return newPage(form, func(w io.Writer) error { return write(w, s.kinds, s.options) })
	})
}

// index3 is the document at /openapi/v3, which maps the name of each OpenAPI v3 document, such as apis/apps/v1, to its URL.
type index3 struct {
	Paths map[string]address3 `json:"paths"`
}

// address3 holds the URL of an OpenAPI v3 document. The URL contains a hash of the document, so clients can cache the document
// indefinitely.
type address3 struct {
	ServerRelativeURL string `json:"serverRelativeURL"`
}

func hashedURL(name, hash string) string {
	u := url.URL{Path: "/openapi/v3/" + name, RawQuery: url.Values{"hash": {hash}}.Encode()}
	return u.String()
}

func (s *snapshot) serveIndex3(w http.ResponseWriter, r *http.Request) {
	s.serve(w, r, "/openapi/v3", func() (*page, error) {
		index := index3{map[string]address3{}}
		for name := range s.kindsByDocument() {
			index.Paths[name] = address3{hashedURL(name, s.documentHash(name))}
		}
		s.cache.retain(func(name string) bool { return s.hasDocument3(strings.TrimSuffix(name, protoSuffix)) })
		return newPage(mediaJSON, func(w io.Writer) error { return encodeJSON(w, index) })
	})
}

func (s *snapshot) serveOpenAPI3(w http.ResponseWriter, r *http.Request, name string) {
	form, _, ok := choose(r.Header.Get("Accept"), []string{mediaJSON, mediaOpenAPI3, mediaOpenAPI3Old}, acceptsAnyParameters)
	if !ok {
		w.Header().Add("Vary", "Accept")
		w.WriteHeader(http.StatusNotAcceptable)
		return
	}
	p, err := s.document3(name, form)
	if err != nil {
		s.serve(w, r, name, func() (*page, error) { return nil, err })
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

// document3 returns the OpenAPI v3 document with the given name: as JSON if mediaType is that of JSON, and otherwise as
// protobuf.
func (s *snapshot) document3(name, mediaType string) (*page, error) {
	hash := s.documentHash(name)
	document, err := s.cache.page(name, hash, func() (*page, error) { return s.buildDocument3(name, hash) })
	if err != nil || mediaType == mediaJSON {
		return document, err
	}
	return s.cache.page(name+protoSuffix, hash, func() (*page, error) {
		s.building.Lock()
		defer s.building.Unlock()
		return protoDocument3(document)
	})
}

// buildDocument3 builds an OpenAPI v3 document as JSON. Concurrent and successive calls share a builder, and thereby the
// definitions that several documents contain, until the garbage collector frees that builder.
func (s *snapshot) buildDocument3(name, hash string) (*page, error) {
	s.building.Lock()
	defer s.building.Unlock()
	builder := s.builder3.Value()
	if builder == nil {
		builder = newOpenAPI3Builder(s.kinds, s.options)
		s.builder3 = weak.Make(builder)
	}
	made, err := newPage(mediaJSON, func(w io.Writer) error { return builder.write(w, name) })
	if err != nil {
		return nil, fmt.Errorf("OpenAPI document %s: %w", name, err)
	}
	made.etag = hash
	return made, nil
}

// protoSuffix is the suffix that distinguishes the cache key of a document in protobuf from that of the document in JSON.
const protoSuffix = " proto"

// protoDocument3 converts a document from JSON to protobuf. The result has the ETag of jsonPage, because both have the same
// URL, which contains the ETag.
func protoDocument3(jsonPage *page) (*page, error) {
	document, err := openapi_v3.ParseDocument(*jsonPage.content())
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
	made.etag, made.modified = jsonPage.etag, jsonPage.modified
	return made, nil
}
