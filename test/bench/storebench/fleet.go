package storebench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/cadastre/cadastre/internal/storage"
)

// A Fleet is many objects.
type Fleet struct {
	Objects int
	Size    int // on average
}

const (
	// objectsPerNamespace is a large namespace.
	objectsPerNamespace = 1000
	// stride leads from a namespace to the one that is written next, so that keys come in no order and
	// the store has something to sort. It is a prime.
	stride = 104_729
	// fillers is how many commits are under way, and writesPerFill how many objects each has: one log
	// record, one sync.
	fillers = 4
	// variation is which part of their size objects are longer or shorter, at most.
	variation     = 8
	writesPerFill = 1000
)

// key returns the namespace and the name of an object.
func (f Fleet) key(number int) (namespace, name string) {
	return fmt.Sprintf("team-%04d", number/objectsPerNamespace), fmt.Sprintf("web-7c9d6f4b5-%07d", number)
}

// shuffled returns which object is written after so many others.
func (f Fleet) shuffled(i int) int {
	namespaces, namespace := f.Objects/objectsPerNamespace, i/objectsPerNamespace
	if namespace < namespaces { // the last may not be full
		namespace = namespace * stride % namespaces
	}
	return namespace*objectsPerNamespace + i%objectsPerNamespace
}

// batches calls write with all objects, some at a time, from several goroutines.
func (f Fleet) batches(most int, write func(keys []string, values [][]byte) error) error {
	var next atomic.Int64
	var running sync.WaitGroup
	failed := make(chan error, fillers)
	for i := range fillers {
		running.Go(func() {
			objects := newObjectSource(uint64(i), f.Size)
			objects.vary = f.Size / variation
			for {
				end := min(next.Add(int64(most)), int64(f.Objects)+int64(most))
				first := int(end) - most
				if first >= f.Objects {
					return
				}
				keys, values := f.batch(objects, first, min(int(end), f.Objects))
				if err := write(keys, values); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	running.Wait()
	close(failed)
	return <-failed
}

func (f Fleet) batch(objects objectSource, first, end int) (keys []string, values [][]byte) {
	for i := first; i < end; i++ {
		number := f.shuffled(i)
		namespace, name := f.key(number)
		keys = append(keys, kind+"/"+namespace+"/"+name)
		values = append(values, objects.next(namespace, name, fmt.Sprintf("app-%d", number/10)))
	}
	return keys, values
}

// Fill makes a store in a folder that has the fleet.
func (f Fleet) Fill(ctx context.Context, folder string) error {
	_, err := ask[struct{}](ctx, fillRole, order{Folder: folder, Fleet: f})
	return err
}

// runFill is the process that fills a store, so that nothing of it is left in memory.
func runFill(in io.Reader, out io.Writer) (err error) {
	o, s, err := openOrdered(in)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	err = o.Fleet.batches(writesPerFill, func(keys []string, values [][]byte) error {
		writes := make([]storage.Write, len(keys))
		for i := range keys {
			writes[i] = storage.Write{Key: keys[i], Value: values[i]}
		}
		_, err := s.Commit(context.Background(), writes...)
		return err
	})
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(struct{}{})
}
