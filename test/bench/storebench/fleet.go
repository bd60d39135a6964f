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

// Fleet is a large number of generated pods.
type Fleet struct {
	Objects int
	Size    int // mean size of an object in bytes
}

const (
	// objectsPerNamespace is the number of objects in each namespace.
	objectsPerNamespace = 1000
	// stride is the number of namespaces between consecutive writes, so that keys are written out of order and the
	// store has to sort them. It is a prime.
	stride = 104_729
	// fillers is the number of concurrent commits that fill a store.
	fillers = 4
	// variation limits the sizes: an object differs from the mean size by at most size/variation bytes.
	variation = 8
	// writesPerFill is the number of objects per commit, which is one log record and one fsync.
	writesPerFill = 1000
)

// key returns the namespace and the name of the object with the given number.
func (f Fleet) key(number int) (namespace, name string) {
	return fmt.Sprintf("team-%04d", number/objectsPerNamespace), fmt.Sprintf("web-7c9d6f4b5-%07d", number)
}

// shuffledNumber returns the number of the object that is the i-th to be written, starting with 0.
func (f Fleet) shuffledNumber(i int) int {
	namespaces, namespace := f.Objects/objectsPerNamespace, i/objectsPerNamespace
	if namespace < namespaces { // the last namespace may have fewer objects and is not moved
		namespace = namespace * stride % namespaces
	}
	return namespace*objectsPerNamespace + i%objectsPerNamespace
}

// writeBatches calls write concurrently with batches of at most maxObjects objects, until the whole fleet is written.
func (f Fleet) writeBatches(maxObjects int, write func(keys []string, values [][]byte) error) error {
	var next atomic.Int64
	var running sync.WaitGroup
	failed := make(chan error, fillers)
	for i := range fillers {
		running.Go(func() {
			objects := newObjectSource(uint64(i), f.Size)
			objects.maxDeviation = f.Size / variation
			for {
				end := min(next.Add(int64(maxObjects)), int64(f.Objects)+int64(maxObjects))
				first := int(end) - maxObjects
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
		number := f.shuffledNumber(i)
		namespace, name := f.key(number)
		keys = append(keys, kind+"/"+namespace+"/"+name)
		values = append(values, objects.next(namespace, name, fmt.Sprintf("app-%d", number/10)))
	}
	return keys, values
}

// Fill creates a store in folder and writes the fleet to it.
func (f Fleet) Fill(ctx context.Context, folder string) error {
	_, err := runChild[struct{}](ctx, fillRole, parameters{Folder: folder, Fleet: f})
	return err
}

// runFill is the main function of the child process that fills a store. A separate process is used so that its memory
// is released afterwards.
func runFill(in io.Reader, out io.Writer) (err error) {
	o, s, err := openRequested(in)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	err = o.Fleet.writeBatches(writesPerFill, func(keys []string, values [][]byte) error {
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
