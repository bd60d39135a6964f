//go:build !race

package app

import "testing"

// TestDropAllocatesNoMore checks that omitting managedFields needs no additional allocations, in every encoding. The race detector
// empties pools, which would falsify the count.
func TestDropAllocatesNoMore(t *testing.T) {
	c := startWithOne(t)
	for _, media := range allMedia {
		whole := leastAllocations(getting(t, c, media))
		less := leastAllocations(getting(t, c, media+";drop=metadata.managedFields"))
		if less > whole {
			t.Errorf("%s: without managedFields a get allocates %v times, with them %v", media, less, whole)
		}
	}
}

// leastAllocations returns the minimum number of allocations of several runs, which excludes those of other goroutines.
func leastAllocations(f func()) float64 {
	least := testing.AllocsPerRun(200, f)
	for range 4 {
		least = min(least, testing.AllocsPerRun(200, f))
	}
	return least
}
