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

// Items is what is asked for linearizability: a store, or something that reads and writes one.
type Items interface {
	Get(ctx context.Context, key string) (storage.Item, error)
	Commit(ctx context.Context, writes ...storage.Write) (storage.Revision, error)
}

// call is what a client asks of one item, and answer what it is told.
type call struct {
	write    bool
	expected storage.Revision
	value    string
}

type answer struct {
	revision storage.Revision
	value    string
	conflict bool
}

// item is what a store is like for one key: its value, and the revision of that.
var item = porcupine.Model{
	Init: func() any { return answer{} },
	Step: func(state, input, output any) (bool, any) {
		is, in, out := state.(answer), input.(call), output.(answer)
		switch {
		case !in.write:
			return is == out, is
		case out.conflict:
			return in.expected != is.revision && out.revision == is.revision, is
		}
		return in.expected == is.revision && out.revision > is.revision, answer{revision: out.revision, value: in.value}
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v → %+v", input, output) },
}

// RunLinearizable has clients read and write a few items at once: there must be an order in
// which everything they are told makes sense, and which agrees with when they asked.
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
				in := call{write: r.IntN(2) == 0, expected: known[key], value: fmt.Sprintf("%d.%d", c, n)}
				asked := time.Since(start).Nanoseconds()
				out, err := in.do(t.Context(), items, key)
				told := time.Since(start).Nanoseconds()
				if err != nil {
					t.Error(err)
					return
				}
				known[key] = out.revision
				mu.Lock()
				histories[key] = append(histories[key], porcupine.Operation{ClientId: c, Input: in, Call: asked, Output: out, Return: told})
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for key, history := range histories {
		if !porcupine.CheckOperations(item, history) {
			t.Errorf("%s: %d operations have no order that makes sense", key, len(history))
		}
	}
}

func (in call) do(ctx context.Context, items Items, key string) (answer, error) {
	if !in.write {
		item, err := items.Get(ctx, key)
		if errors.Is(err, storage.ErrNotFound) {
			err = nil
		}
		return answer{revision: item.Revision, value: string(item.Value)}, err
	}
	revision, err := items.Commit(ctx, storage.Write{Key: key, Expected: in.expected, Value: []byte(in.value)})
	var conflict *storage.ConflictError
	if errors.As(err, &conflict) {
		return answer{revision: conflict.Found, conflict: true}, nil
	}
	return answer{revision: revision}, err
}
