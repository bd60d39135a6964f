package service

import (
	"errors"
	"math/rand/v2"
)

// errRangeFull is returned if all addresses or ports of a range are allocated. The message is that of Kubernetes.
var errRangeFull = errors.New("range is full")

// staticBand returns the size of the lower band of a range of size numbers, which is for numbers that clients request:
// size/divisor, at least 16 and at most limit. It is 0 if size is at most 16.
func staticBand(size, divisor, limit int) int {
	const minBand = 16
	if size <= minBand {
		return 0
	}
	return min(max(minBand, size/divisor), limit)
}

// allocateFree returns a number n, 0 ≤ n < size, for which isFree returns true; errRangeFull if there is none. It first
// searches the numbers from bandEnd to size-1, starting at a random number, and then the numbers below bandEnd.
func allocateFree(size, bandEnd int, isFree func(n int) (bool, error)) (int, error) {
	start := rand.IntN(size - bandEnd)
	for i := range size {
		n := bandEnd + (start+i)%(size-bandEnd)
		if i >= size-bandEnd {
			n = i - (size - bandEnd)
		}
		free, err := isFree(n)
		if free || err != nil {
			return n, err
		}
	}
	return 0, errRangeFull
}
