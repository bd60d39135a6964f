package storagetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/cadastre/cadastre/internal/storage"
)

// Items is the part of storage.Store that RunLinearizable needs. The test of the watch cache implements it as well.
type Items interface {
	Get(ctx context.Context, key string) (storage.Item, error)
	Commit(ctx context.Context, writes ...storage.Write) (storage.Revision, error)
}

// operation is a read (write is false) or a compare-and-swap of one item.
type operation struct {
	write    bool
	expected storage.Revision
	value    string
}

// outcome is the result of an operation: the item's revision and value after the operation, or the revision that a
// conflict reported.
type outcome struct {
	revision storage.Revision
	value    string
	conflict bool
}

// register is porcupine's sequential specification of one item: a register with compare-and-swap.
var register = porcupine.Model{
	Init: func() any { return outcome{} },
	Step: func(state, input, output any) (bool, any) {
		now, in, out := state.(outcome), input.(operation), output.(outcome)
		switch {
		case !in.write:
			return now == out, now
		case out.conflict:
			return in.expected != now.revision && out.revision == now.revision, now
		}
		return in.expected == now.revision && out.revision > now.revision, outcome{revision: out.revision, value: in.value}
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v → %+v", input, output) },
}

// RunLinearizable runs concurrent reads and writes of a few items and fails the test if the results are not linearizable.
func RunLinearizable(t *testing.T, items Items) {
	const clients, keys, steps = 8, 3, 150
	start := time.Now()
	var mu sync.Mutex
	histories := map[string][]porcupine.Operation{}
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(c), 3))
			known := map[string]storage.Revision{}
			for n := range steps {
				key := fmt.Sprintf("k/%d", r.IntN(keys))
				in := operation{write: r.IntN(2) == 0, expected: known[key], value: fmt.Sprintf("%d.%d", c, n)}
				called := time.Since(start).Nanoseconds()
				out, err := in.run(t.Context(), items, key)
				returned := time.Since(start).Nanoseconds()
				if err != nil {
					t.Error(err)
					return
				}
				known[key] = out.revision
				mu.Lock()
				histories[key] = append(histories[key], porcupine.Operation{ClientId: c, Input: in, Call: called, Output: out, Return: returned})
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for key, history := range histories {
		if !porcupine.CheckOperations(register, history) {
			t.Errorf("%s: the history of %d operations is not linearizable", key, len(history))
		}
	}
}

func (op operation) run(ctx context.Context, items Items, key string) (outcome, error) {
	if !op.write {
		item, err := items.Get(ctx, key)
		if errors.Is(err, storage.ErrNotFound) {
			err = nil
		}
		return outcome{revision: item.Revision, value: string(item.Value)}, err
	}
	revision, err := items.Commit(ctx, storage.Write{Key: key, Expected: op.expected, Value: []byte(op.value)})
	var conflict *storage.ConflictError
	if errors.As(err, &conflict) {
		return outcome{revision: conflict.Found, conflict: true}, nil
	}
	return outcome{revision: revision}, err
}
