package service

import (
	"errors"
	"math/rand/v2"
)

var errFull = errors.New("range is full")

// lowerPart returns how many of the first numbers below size are for clients that choose for
// themselves: a share, but at most so many. The small ranges have none.
func lowerPart(size, share, most int) int {
	const least = 16
	if size <= least {
		return 0
	}
	return min(max(least, size/share), most)
}

// draw returns a free number below size. It begins at random in the upper part, goes on from there
// to the end, and takes the lower part, in which clients choose for themselves, only when the upper
// one is full.
func draw(size, lower int, isFree func(n int) (bool, error)) (int, error) {
	start := rand.IntN(size - lower)
	for i := range size {
		n := lower + (start+i)%(size-lower)
		if i >= size-lower {
			n = i - (size - lower)
		}
		free, err := isFree(n)
		if free || err != nil {
			return n, err
		}
	}
	return 0, errFull
}
