package service

import (
	"errors"
	"math/rand/v2"
)

var errFull = errors.New("range is full")

// staticBand returns the size of the lower band of a range, which is for numbers that clients choose: size/divisor, at least 16
// and at most limit. Ranges of up to 16 numbers have none.
func staticBand(size, divisor, limit int) int {
	const minBand = 16
	if size <= minBand {
		return 0
	}
	return min(max(minBand, size/divisor), limit)
}

// allocateFree returns a free number below size; errFull if there is none. It searches the upper band from a random position on,
// and then the lower band.
func allocateFree(size, lower int, isFree func(n int) (bool, error)) (int, error) {
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
