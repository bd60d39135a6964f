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
	"sync"
	"time"

	"github.com/cadastre/cadastre/internal/encoding"
)

// page is a document that is ready to be sent. What is big is kept packed: hardly a client wants it
// otherwise, and unpacking for the one that does costs little.
type page struct {
	mediaType string
	etag      string // without quotes
	modified  time.Time
	plain     []byte // nil if it is packed
	packed    []byte
}

// packFrom is the size from which on a document is kept and sent packed.
const packFrom = 8 << 10

// packers are writers that pack. Each is big, and one is used for many pages.
var packers = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// newPage makes a page of what write writes.
func newPage(mediaType string, write func(w io.Writer) error) (*page, error) {
	var packed bytes.Buffer
	packer := packers.Get().(*gzip.Writer)
	defer packers.Put(packer)
	packer.Reset(&packed)
	hash := sha512.New()
	count := &counter{}
	buffered := bufio.NewWriterSize(io.MultiWriter(packer, hash, count), 16<<10)
	if err := errors.Join(write(buffered), buffered.Flush(), packer.Close()); err != nil {
		return nil, err
	}
	p := &page{mediaType: mediaType, etag: fmt.Sprintf("%X", hash.Sum(nil)), modified: time.Now(), packed: bytes.Clone(packed.Bytes())}
	if count.bytes < packFrom {
		p.plain, p.packed = p.content(), nil
	}
	return p, nil
}

// counter is a writer that only counts.
type counter struct{ bytes int }

func (c *counter) Write(b []byte) (int, error) {
	c.bytes += len(b)
	return len(b), nil
}

// content returns the page unpacked.
func (p *page) content() []byte {
	if p.plain != nil {
		return p.plain
	}
	r, err := gzip.NewReader(bytes.NewReader(p.packed))
	if err != nil {
		panic(err) // newPage has packed it
	}
	content, err := io.ReadAll(r)
	if err != nil {
		panic(err)
	}
	return content
}

// send answers a request with the page, or says that the client has it already.
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
			content = p.packed
		} else {
			content = p.content()
		}
	}
	http.ServeContent(w, r, "", p.modified, bytes.NewReader(content))
}
