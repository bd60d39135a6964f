package storebench

import (
	"context"
	"errors"
	"io"
	"runtime"
	"time"

	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// Listing is the result of listing a fleet from the watch cache and encoding it as JSON.
type Listing struct {
	Objects int
	// Whole is the size of the encoded list in bytes; Short is the size without managedFields.
	Whole, Short int64
	Rounds       []ListRound
}

// ListRound contains the times of one round.
type ListRound struct {
	// Take is the time of retrieving the objects from the cache.
	Take time.Duration
	// Whole and Short are the times of retrieving and encoding the objects, with and without managedFields.
	Whole, Short time.Duration
	// CopyWhole and CopyShort are the times of only copying the encoded objects to the same buffer, with and without
	// managedFields. Each encoded object is in separate memory.
	CopyWhole, CopyShort time.Duration
}

// WholeFraction and ShortFraction return the time of copying divided by the time of listing, with and without
// managedFields.
func (r ListRound) WholeFraction() float64 { return float64(r.CopyWhole) / float64(r.Whole) }
func (r ListRound) ShortFraction() float64 { return float64(r.CopyShort) / float64(r.Short) }

// List lists the fleet that folder contains, once per round, in a child process.
func (f Fleet) List(ctx context.Context, folder string, rounds int) (Listing, error) {
	return runChild[Listing](ctx, listingRole, parameters{Folder: folder, Rounds: rounds})
}

// runListing is the main function of the child process that lists a fleet. It reads its parameters from in, and writes
// a Listing to out.
func runListing(in io.Reader, out io.Writer) error {
	return runWithCache(in, out, func(o parameters, _ storage.Store, c *watchcache.Cache) (any, error) {
		l := lister{cache: c, buffer: make([]byte, 0, bufferSize)}
		return l.list(o.Rounds)
	})
}

// bufferSize is the size of the output buffer in bytes, as of a write to a connection. The buffer fits into the cache
// of a CPU core.
const bufferSize = 1 << 20

type lister struct {
	cache  *watchcache.Cache
	buffer []byte
}

func (l *lister) list(rounds int) (Listing, error) {
	objects, err := l.take()
	if err != nil {
		return Listing{}, err
	}
	whole, short := texts(objects, (*watchcache.Object).AppendJSON), texts(objects, (*watchcache.Object).AppendJSONWithoutManagedFields)
	listing := Listing{Objects: len(objects), Whole: length(whole), Short: length(short)}
	objects = nil
	runtime.GC()
	for range rounds {
		var r ListRound
		r.Take = l.time(&err, func([]*watchcache.Object) {})
		r.Whole = l.time(&err, l.write((*watchcache.Object).AppendJSON))
		r.CopyWhole = l.copy(whole)
		r.Short = l.time(&err, l.write((*watchcache.Object).AppendJSONWithoutManagedFields))
		r.CopyShort = l.copy(short)
		listing.Rounds = append(listing.Rounds, r)
	}
	return listing, err
}

func (l *lister) take() ([]*watchcache.Object, error) {
	list, err := l.cache.List(context.Background(), watchcache.Query{Selection: watchcache.Selection{Kind: kind}})
	return list.Objects, err
}

// time returns the time of retrieving the list and passing it to use. It sets *failed if the list cannot be retrieved.
func (l *lister) time(failed *error, use func([]*watchcache.Object)) time.Duration {
	start := time.Now()
	objects, err := l.take()
	use(objects)
	*failed = errors.Join(*failed, err)
	return time.Since(start)
}

type appender func(*watchcache.Object, []byte) []byte

// write returns a function that encodes each object with add into the buffer of l, which is reset when it is full.
func (l *lister) write(add appender) func([]*watchcache.Object) {
	return func(objects []*watchcache.Object) {
		for _, o := range objects {
			if len(l.buffer)+o.JSONSize() > cap(l.buffer) {
				l.buffer = l.buffer[:0]
			}
			l.buffer = add(o, l.buffer)
		}
	}
}

// copy returns the time of copying texts, which are already encoded, to the buffer of l. It resets the buffer when it
// is full, as write does.
func (l *lister) copy(texts [][]byte) time.Duration {
	start := time.Now()
	buffer, used := l.buffer[:cap(l.buffer)], 0
	for _, text := range texts {
		if used+len(text) > len(buffer) {
			used = 0
		}
		used += copy(buffer[used:], text)
	}
	return time.Since(start)
}

// texts returns the objects as encoded by add, each in separate memory.
func texts(objects []*watchcache.Object, add appender) (texts [][]byte) {
	var scratch []byte
	for _, o := range objects {
		scratch = add(o, scratch[:0])
		texts = append(texts, append([]byte(nil), scratch...))
	}
	return texts
}

func length(texts [][]byte) (bytes int64) {
	for _, text := range texts {
		bytes += int64(len(text))
	}
	return bytes
}
