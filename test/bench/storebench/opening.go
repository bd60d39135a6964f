package storebench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/cadastre/cadastre/internal/watchcache"
	"github.com/cadastre/cadastre/test/bench/proc"
)

// An Opening is what it took to open a folder in a fresh process, store and cache, and what memory that
// process then has.
type Opening struct {
	Objects int
	Bytes   int64 // of the objects' JSON
	// Store is the part of Time until the store was open.
	Time, Store, CPU time.Duration
	// Paced says that the cache paced the collector; otherwise it was as Go has it.
	Paced  bool
	Memory Memory
}

// Seconds is Time as a figure.
func (o Opening) Seconds() float64 { return o.Time.Seconds() }

// Ratio is how many times the objects' bytes some bytes are.
func (o Opening) Ratio(bytes int64) float64 { return float64(bytes) / float64(o.Bytes) }

// PerObject is what the heap has beside the objects' bytes, for each of them.
func (o Opening) PerObject() float64 { return float64(o.Memory.Live-o.Bytes) / float64(o.Objects) }

// Open opens the folder with the fleet, with the collector as Go has it or paced by the cache.
func (f Fleet) Open(ctx context.Context, folder string, paced bool) (Opening, error) {
	o, err := ask[Opening](ctx, openingRole, order{Folder: folder, Paced: paced})
	if err == nil && o.Objects != f.Objects {
		err = fmt.Errorf("%d objects, expected %d", o.Objects, f.Objects)
	}
	return o, err
}

// runOpening is the process that opens a folder: it answers an order with an Opening.
func runOpening(in io.Reader, out io.Writer) (err error) {
	var o order
	if err := json.NewDecoder(in).Decode(&o); err != nil {
		return err
	}
	opening := Opening{Paced: o.Paced}
	start := time.Now()
	s, err := openLocal(o.Folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	opening.Store = time.Since(start)
	c, err := openCache(s, o.Paced)
	if err != nil {
		return err
	}
	defer c.Close()
	opening.Time = time.Since(start)
	if opening.CPU, err = proc.CPU(os.Getpid()); err != nil {
		return err
	}
	if err := untilIdle(); err != nil {
		return err
	}
	if opening.Memory, err = measureMemory(func() error { return opening.count(c) }); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(opening)
}

// untilIdle waits until the process does nothing any more: a cache goes on to read the past when it is
// open.
func untilIdle() error {
	const pause, little = 200 * time.Millisecond, 2 * proc.Tick
	for before := time.Duration(-time.Hour); ; time.Sleep(pause) {
		now, err := proc.CPU(os.Getpid())
		if err != nil || now-before <= little {
			return err
		}
		before = now
	}
}

// count finds out what there is. The list is garbage when it returns.
func (o *Opening) count(c *watchcache.Cache) error {
	list, err := c.List(context.Background(), watchcache.Query{Selection: watchcache.Selection{Kind: kind}})
	o.Objects = len(list.Objects)
	for _, object := range list.Objects {
		o.Bytes += int64(len(object.Text()))
	}
	return err
}
