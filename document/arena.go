package document

// arena hands out memory piece by piece, so that many small pieces cost one allocation.
type arena[T any] struct {
	chunk []T
	free  []T // the rest of the chunk
	taken int // how much was handed out, of this chunk and of those before it
}

// take returns a piece of so many elements. If there is no room left for it, there is made room for
// twice as much as before, up to most: whoever keeps a piece keeps all of its chunk.
func (a *arena[T]) take(count, most int) []T {
	if len(a.free) < count {
		a.chunk = make([]T, max(count, min(2*len(a.chunk)+4, most)))
		a.free = a.chunk
	}
	piece := a.free[:count:count]
	a.free = a.free[count:]
	a.taken += count
	return piece
}

// recycle makes all memory free that was handed out, which nobody may use any more. There is
// then room for as much again, unless that is more than most.
func (a *arena[T]) recycle(most int) {
	switch {
	case a.taken > most:
		a.chunk = nil
	case a.taken > len(a.chunk):
		a.chunk = make([]T, a.taken+a.taken/4)
	default:
		clear(a.chunk[:a.taken])
	}
	a.free, a.taken = a.chunk, 0
}
