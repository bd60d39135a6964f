package storebench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"github.com/cadastre/cadastre/internal/cache"
)

// An Opening is what it took to open a folder in a fresh process, store and cache, and what memory that
// process then has.
type Opening struct {
	Objects int
	Bytes   int64 // of the objects' JSON
	// Store is the part of Time until the store was open.
	Time, Store, CPU time.Duration
	GCPercent        int
	Memory           Memory
}

// Seconds is Time as a figure.
func (o Opening) Seconds() float64 { return o.Time.Seconds() }

// Ratio is how many times the objects' bytes some bytes are.
func (o Opening) Ratio(bytes int64) float64 { return float64(bytes) / float64(o.Bytes) }

// PerObject is what the heap has beside the objects' bytes, for each of them.
func (o Opening) PerObject() float64 { return float64(o.Memory.Live-o.Bytes) / float64(o.Objects) }

// Open opens the folder with the fleet. The collector is set as GOGC would do, 100 being Go's own.
func (f Fleet) Open(ctx context.Context, folder string, gcPercent int) (Opening, error) {
	o, err := ask[Opening](ctx, openingRole, order{Folder: folder, GCPercent: gcPercent})
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
	debug.SetGCPercent(o.GCPercent)
	opening := Opening{GCPercent: o.GCPercent}
	start := time.Now()
	s, err := openLocal(o.Folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	opening.Store = time.Since(start)
	c, err := openCache(s)
	if err != nil {
		return err
	}
	defer c.Close()
	opening.Time = time.Since(start)
	if opening.CPU, err = cpuTime(os.Getpid()); err != nil {
		return err
	}
	if opening.Memory, err = measureMemory(func() error { return opening.count(c) }); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(opening)
}

// count finds out what there is. The list is garbage when it returns.
func (o *Opening) count(c *cache.Cache) error {
	list, err := c.List(context.Background(), cache.Query{Selection: cache.Selection{Kind: kind}})
	o.Objects = len(list.Objects)
	for _, object := range list.Objects {
		o.Bytes += int64(len(object.Text()))
	}
	return err
}
