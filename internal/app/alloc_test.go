//go:build !race

package app

import "testing"

// TestDropAllocatesNoMore: leaving something out takes nothing from the heap, in any media. The race detector has pools
// forget what they keep, so that it says nothing there.
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

// leastAllocations is how often something allocates when nobody else in the process does.
func leastAllocations(f func()) float64 {
	least := testing.AllocsPerRun(200, f)
	for range 4 {
		least = min(least, testing.AllocsPerRun(200, f))
	}
	return least
}
