package discovery

import (
	"io"
	"runtime"
	"testing"

	"github.com/cadastre/cadastre/internal/api"
)

// BenchmarkBuildDocuments measures the time to build documents, which delays the first request for each document.
func BenchmarkBuildDocuments(b *testing.B) {
	all := api.Builtin()
	for name, write := range map[string]func(w io.Writer) error{
		"openapi2": func(w io.Writer) error {
			return writeOpenAPI2(w, all, Options{Drop: true, Subresources: testSubresources})
		},
		"openapi2proto": func(w io.Writer) error {
			return writeOpenAPI2Proto(w, all, Options{Drop: true, Subresources: testSubresources})
		},
		"openapi3": func(w io.Writer) error {
			builder := newOpenAPI3Builder(all, Options{Drop: true, Subresources: testSubresources})
			for _, name := range documentNames3(all) {
				if err := builder.write(w, name); err != nil {
					return err
				}
			}
			return nil
		},
		"aggregated": func(w io.Writer) error {
			return encode(w, aggregated(groupsOf(all, testSubresources), "v2"), mediaJSON)
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p, err := newPage(mediaJSON, write)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(len(p.compressed)), "kept-B")
			}
		})
	}
}

// BenchmarkCachedMemory measures the memory that a catalog retains (kept-B) and has allocated (garbage-B) after all documents
// have been requested.
func BenchmarkCachedMemory(b *testing.B) {
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		e := newSnapshot(api.Builtin(), Options{Subresources: testSubresources}, newDocumentCache())
		for _, form := range []string{mediaJSON, mediaOpenAPI2} {
			write := writeOpenAPI2
			if form != mediaJSON {
				write = writeOpenAPI2Proto
			}
			if _, err := e.page(form, func() (*page, error) {
				return newPage(form, func(w io.Writer) error { return write(w, e.kinds, Options{Drop: true, Subresources: testSubresources}) })
			}); err != nil {
				b.Fatal(err)
			}
		}
		for name := range e.kindsByDocument() {
			if _, err := e.document3(name, mediaJSON); err != nil {
				b.Fatal(err)
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc)-float64(before.HeapAlloc), "kept-B")
		b.ReportMetric(float64(after.TotalAlloc)-float64(before.TotalAlloc), "garbage-B")
		runtime.KeepAlive(e)
	}
}
