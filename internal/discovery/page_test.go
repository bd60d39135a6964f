package discovery

import (
	"bytes"
	"io"
	"net/http/httptest"
	"runtime"
	"sync"
	"testing"
)

// TestPageWithoutGzip checks that concurrent requests for an uncompressed page share one decompressed copy, and that each gets the
// content.
func TestPageWithoutGzip(t *testing.T) {
	want := bytes.Repeat([]byte("0123456789"), minCompressedSize)
	p, err := newPage(mediaJSON, func(w io.Writer) error { _, err := w.Write(want); return err })
	if err != nil {
		t.Fatal(err)
	}
	shared := p.content()
	var requests sync.WaitGroup
	for range 20 {
		requests.Go(func() {
			w := httptest.NewRecorder()
			p.send(w, httptest.NewRequest("GET", "/openapi/v2", nil))
			if !bytes.Equal(w.Body.Bytes(), want) || w.Header().Get("Content-Encoding") != "" {
				t.Errorf("got %d bytes with Content-Encoding %q, want the %d bytes of the page", w.Body.Len(), w.Header().Get("Content-Encoding"), len(want))
			}
		})
	}
	requests.Wait()
	if again := p.content(); again != shared {
		t.Error("content() decompressed the page again while a caller used it, want the same slice")
	}
	runtime.KeepAlive(shared)
	shared = nil
	runtime.GC()
	if p.decompressed.Value() != nil {
		t.Error("the decompressed page is in memory without a request, want only the compressed one")
	}
}
