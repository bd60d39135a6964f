package discovery

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"sync"
	"time"
	"weak"

	"github.com/cadastre/cadastre/internal/encoding"
)

// page is a document in one media type, ready to be sent. Large pages are stored compressed, because nearly all clients accept
// gzip. For clients that do not, a large page is decompressed once and shared by the requests that need it at the same time.
type page struct {
	mediaType  string
	etag       string // etag is the ETag without quotes.
	modified   time.Time
	plain      []byte // plain is the uncompressed content of a small page; nil if compressed is set.
	compressed []byte // compressed is the gzip-compressed content of a large page; nil if plain is set.
	size       int    // size is the number of bytes of the uncompressed content.

	decompressing sync.Mutex           // held while decompressed is read or set
	decompressed  weak.Pointer[[]byte] // the uncompressed content, while a request uses it
}

// minCompressedSize is the minimum size in bytes of pages that are stored and sent compressed.
const minCompressedSize = 8 << 10

// gzipWriters pools gzip writers, because each of them allocates much memory.
var gzipWriters = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// newPage returns a page whose content is the output of write, and whose ETag is a hash of the content.
func newPage(mediaType string, write func(w io.Writer) error) (*page, error) {
	var packed bytes.Buffer
	packer := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(packer)
	packer.Reset(&packed)
	hash := sha512.New()
	count := &counter{}
	buffered := bufio.NewWriterSize(io.MultiWriter(packer, hash, count), 16<<10)
	if err := errors.Join(write(buffered), buffered.Flush(), packer.Close()); err != nil {
		return nil, err
	}
	p := &page{mediaType: mediaType, etag: fmt.Sprintf("%X", hash.Sum(nil)), modified: time.Now(), compressed: bytes.Clone(packed.Bytes()), size: count.bytes}
	if p.size < minCompressedSize {
		p.plain, p.compressed = *p.content(), nil
	}
	return p, nil
}

// counter is an io.Writer that counts the bytes written to it.
type counter struct{ bytes int }

func (c *counter) Write(b []byte) (int, error) {
	c.bytes += len(b)
	return len(b), nil
}

// content returns the uncompressed content of the page. Concurrent callers get the same slice, which they
// must not modify. It is garbage when no caller refers to the returned pointer.
func (p *page) content() *[]byte {
	if p.plain != nil {
		return &p.plain
	}
	p.decompressing.Lock()
	defer p.decompressing.Unlock()
	if content := p.decompressed.Value(); content != nil {
		return content
	}
	content := make([]byte, p.size)
	r, err := gzip.NewReader(bytes.NewReader(p.compressed))
	if err == nil {
		_, err = io.ReadFull(r, content)
	}
	if err != nil {
		panic(err) // unreachable: newPage has compressed the content
	}
	p.decompressed = weak.Make(&content)
	return &content
}

// send responds with the page, or with 304 if the If-None-Match header contains its ETag.
func (p *page) send(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", p.mediaType)
	h.Set("Etag", `"`+p.etag+`"`)
	h.Add("Vary", "Accept")
	content := p.plain
	if content == nil {
		h.Add("Vary", "Accept-Encoding")
		if encoding.AcceptsGzip(r.Header.Get("Accept-Encoding")) {
			h.Set("Content-Encoding", "gzip")
			content = p.compressed
		} else {
			shared := p.content()
			defer runtime.KeepAlive(shared) // so that other requests share it until the response is sent
			content = *shared
		}
	}
	http.ServeContent(w, r, "", p.modified, bytes.NewReader(content))
}
