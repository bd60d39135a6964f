package catalog

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	openapi_v3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/proto"

	"github.com/cadastre/cadastre/internal/kinds"
)

// findOpenAPI returns what answers requests for an OpenAPI document, or nil.
func (e *edition) findOpenAPI(name string) http.HandlerFunc {
	switch {
	case name == "v2":
		return e.answerOpenAPI2
	case name == "v3":
		return e.answerIndex3
	}
	name, ok := strings.CutPrefix(name, "v3/")
	if !ok || !e.hasDocument3(name) {
		return nil
	}
	return func(w http.ResponseWriter, r *http.Request) { e.answerOpenAPI3(w, r, name) }
}

func (e *edition) hasDocument3(name string) bool {
	return slices.Contains(names3(e.kinds), name)
}

func (e *edition) answerOpenAPI2(w http.ResponseWriter, r *http.Request) {
	form, _, ok := choose(r.Header.Get("Accept"), []string{mediaJSON, mediaOpenAPI2Old, mediaOpenAPI2}, anyParameters)
	if !ok {
		w.Header().Add("Vary", "Accept")
		w.WriteHeader(http.StatusNotAcceptable)
		return
	}
	write := writeOpenAPI2
	if form != mediaJSON {
		form, write = mediaOpenAPI2, writeOpenAPI2Proto
	}
	e.answer(w, r, "/openapi/v2 "+form, func() (*page, error) {
		e.making.Lock()
		defer e.making.Unlock()
		return newPage(form, func(w io.Writer) error { return write(w, e.kinds, e.options.Drop) })
	})
}

// makeDocuments3 makes all documents of version 3 as JSON. Those whose kinds are the same as
// before are taken over.
func (e *edition) makeDocuments3() (map[string]*page, error) {
	e.making.Lock()
	defer e.making.Unlock()
	before := e.leaves.Load()
	maker := newOpenAPI3(e.kinds, e.options.Drop)
	made := map[string]*page{}
	for _, name := range names3(e.kinds) {
		if p := before.documents3[name]; p != nil && slices.Equal(kindsOf3(name, before.kinds), kindsOf3(name, e.kinds)) {
			made[name] = p
			continue
		}
		p, err := newPage(mediaJSON, func(w io.Writer) error { return maker.write(w, name) })
		if err != nil {
			return nil, fmt.Errorf("OpenAPI document %s: %w", name, err)
		}
		made[name] = p
	}
	e.leaves.Store(&earlier{e.kinds, made})
	return made, nil
}

// kindsOf3 returns the kinds that a document of version 3 is about.
func kindsOf3(name string, all []*kinds.Kind) (about []*kinds.Kind) {
	for _, k := range all {
		if slices.ContainsFunc(k.Versions, func(version string) bool { return prefix(k.Group, version)[1:] == name }) {
			about = append(about, k)
		}
	}
	return about
}

// index3 is what /openapi/v3 answers: where the documents are.
type index3 struct {
	Paths map[string]address3 `json:"paths"`
}

// address3 is where a document of version 3 is, as it is now: another content has another address, so
// that clients may keep what they got from this one for ever.
type address3 struct {
	ServerRelativeURL string `json:"serverRelativeURL"`
}

func hashed(name, etag string) string {
	u := url.URL{Path: "/openapi/v3/" + name, RawQuery: url.Values{"hash": {etag}}.Encode()}
	return u.String()
}

func (e *edition) answerIndex3(w http.ResponseWriter, r *http.Request) {
	e.answer(w, r, "/openapi/v3", func() (*page, error) {
		documents, err := e.documents3()
		if err != nil {
			return nil, err
		}
		index := index3{map[string]address3{}}
		for name, p := range documents {
			index.Paths[name] = address3{hashed(name, p.etag)}
		}
		return newPage(mediaJSON, func(w io.Writer) error { return encodeJSON(w, index) })
	})
}

func (e *edition) answerOpenAPI3(w http.ResponseWriter, r *http.Request, name string) {
	form, _, ok := choose(r.Header.Get("Accept"), []string{mediaJSON, mediaOpenAPI3, mediaOpenAPI3Old}, anyParameters)
	if !ok {
		w.Header().Add("Vary", "Accept")
		w.WriteHeader(http.StatusNotAcceptable)
		return
	}
	p, err := e.document3(name, form)
	if err != nil {
		e.answer(w, r, name, func() (*page, error) { return nil, err })
		return
	}
	if hash := r.URL.Query().Get("hash"); hash == p.etag {
		w.Header().Set("Cache-Control", "public, immutable")
		w.Header().Set("Expires", time.Now().AddDate(1, 0, 0).UTC().Format(http.TimeFormat))
	} else if hash != "" {
		w.Header().Add("Vary", "Accept")
		http.Redirect(w, r, hashed(name, p.etag), http.StatusMovedPermanently)
		return
	}
	p.send(w, r)
}

// document3 returns a document of version 3 in some form.
func (e *edition) document3(name, form string) (*page, error) {
	documents, err := e.documents3()
	if err != nil || form == mediaJSON {
		return documents[name], err
	}
	return e.page("/openapi/v3/"+name+" proto", func() (*page, error) {
		e.making.Lock()
		defer e.making.Unlock()
		return protoDocument3(documents[name])
	})
}

// protoDocument3 turns a document from JSON to protobuf. It keeps its hash: the address is the same in
// both forms.
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
