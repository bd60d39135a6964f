package server

import (
	"io"
	"net/http"
	"sync"

	"github.com/klauspost/compress/gzip"

	"github.com/cadastre/cadastre/internal/encoding"
)

// smallestCompressed is how large an answer must be to be compressed. As in Kubernetes, it is done as fast as can be.
const smallestCompressed = 128 << 10

var compressors = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is one that there is
	}
	return w
}}

// bodyWriter returns where the body of an answer goes that has at least so many bytes: compressed if it is large
// and the client takes that. It must be closed.
func (q *request) bodyWriter(size int) io.WriteCloser {
	if size < smallestCompressed || !encoding.AcceptsGzip(q.r.Header.Get("Accept-Encoding")) {
		return plainBody{&q.w}
	}
	h := q.w.Header()
	h["Content-Encoding"] = []string{"gzip"}
	h.Add("Vary", "Accept-Encoding")
	delete(h, "Content-Length")
	w := compressors.Get().(*gzip.Writer)
	w.Reset(&q.w)
	return compressedBody{w}
}

type plainBody struct{ http.ResponseWriter }

func (plainBody) Close() error { return nil }

type compressedBody struct{ *gzip.Writer }

func (c compressedBody) Close() error {
	err := c.Writer.Close()
	compressors.Put(c.Writer)
	return err
}
