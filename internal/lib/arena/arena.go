// Package arena allocates many small slices from few large ones ("chunks").
package arena

// Arena allocates slices of T from chunks. The zero Arena is ready to use. It is not safe for concurrent use.
type Arena[T any] struct {
	chunk []T
	free  []T // the part of the chunk that is not allocated yet
	taken int // the number of elements allocated since the last Recycle, in all chunks
}

// Take returns a zeroed slice with count elements and no spare capacity. If the rest of the chunk is too small, Take
// allocates another chunk of twice the size, but of at most maxChunk elements unless count is larger. A slice keeps its
// whole chunk in memory.
func (a *Arena[T]) Take(count, maxChunk int) []T {
	if len(a.free) < count {
		a.chunk = make([]T, max(count, min(2*len(a.chunk)+4, maxChunk)))
		a.free = a.chunk
	}
	piece := a.free[:count:count]
	a.free = a.free[count:]
	a.taken += count
	return piece
}

// Recycle zeroes all memory that Take returned and makes it available again. The caller must not use the returned
// slices afterwards. The arena keeps memory for as many elements as were allocated; if these are more than maxKept, it
// keeps no memory.
func (a *Arena[T]) Recycle(maxKept int) {
	switch {
	case a.taken > maxKept:
		a.chunk = nil
	case a.taken > len(a.chunk):
		a.chunk = make([]T, a.taken+a.taken/4)
	default:
		clear(a.chunk[:a.taken])
	}
	a.free, a.taken = a.chunk, 0
}

// Chunk returns the current chunk, for tests that check that recycled memory holds no references.
func (a *Arena[T]) Chunk() []T { return a.chunk }
