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

// Opening is the cost of opening the store and the watch cache of a folder in a new process, and the memory of that
// process.
type Opening struct {
	Objects int
	Bytes   int64 // total size of the objects in JSON
	// Time is the time until the watch cache is open.
	Time time.Duration
	// Store is the part of Time until the store is open.
	Store time.Duration
	// CPU is the CPU time of the process.
	CPU time.Duration
	// Paced reports whether the watch cache tuned the garbage collector. If it is false, the collector had Go's default
	// settings.
	Paced  bool
	Memory Memory
}

// Seconds returns Time in seconds.
func (o Opening) Seconds() float64 { return o.Time.Seconds() }

// Ratio returns bytes divided by the total size of the objects.
func (o Opening) Ratio(bytes int64) float64 { return float64(bytes) / float64(o.Bytes) }

// PerObject returns the heap overhead per object: the live bytes beyond the size of the objects, divided by their
// number.
func (o Opening) PerObject() float64 { return float64(o.Memory.Live-o.Bytes) / float64(o.Objects) }

// Open opens the store and the watch cache of folder, which contains the fleet, in a child process. If paced is set,
// the cache tunes the garbage collector.
func (f Fleet) Open(ctx context.Context, folder string, paced bool) (Opening, error) {
	o, err := runChild[Opening](ctx, openingRole, parameters{Folder: folder, Paced: paced})
	if err == nil && o.Objects != f.Objects {
		err = fmt.Errorf("opened store: expected %[2]d objects, received %[1]d", o.Objects, f.Objects)
	}
	return o, err
}

// runOpening is the main function of the child process that opens a folder. It reads its parameters from in, and writes
// an Opening to out.
func runOpening(in io.Reader, out io.Writer) (err error) {
	var o parameters
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
	if err := waitUntilIdle(); err != nil {
		return err
	}
	if opening.Memory, err = measureMemory(func() error { return opening.count(c) }); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(opening)
}

// waitUntilIdle waits until this process is idle, because a watch cache reads its event history in the background after
// opening.
func waitUntilIdle() error {
	const pause, little = 200 * time.Millisecond, 2 * proc.Tick
	for before := time.Duration(-time.Hour); ; time.Sleep(pause) {
		now, err := proc.CPU(os.Getpid())
		if err != nil || now-before <= little {
			return err
		}
		before = now
	}
}

// count sets o.Objects and o.Bytes from a list of c. The list is garbage when count returns, so it does not add to the
// live heap.
func (o *Opening) count(c *watchcache.Cache) error {
	list, err := c.List(context.Background(), watchcache.Query{Selection: watchcache.Selection{Kind: kind}})
	o.Objects = len(list.Objects)
	for _, object := range list.Objects {
		o.Bytes += int64(len(object.Text()))
	}
	return err
}
