//go:build !race

package app

import "testing"

// TestDropAllocatesNoMore checks that omitting managedFields from a response requires no additional allocations, in every
// encoding. It is excluded from race builds: the race detector empties sync.Pools, which changes the number of allocations.
func TestDropAllocatesNoMore(t *testing.T) {
	c := startWithDeployment(t)
	for _, media := range allMedia {
		whole := leastAllocations(newGet(t, c, media))
		less := leastAllocations(newGet(t, c, media+";drop=metadata.managedFields"))
		if less > whole {
			t.Errorf("%s: without managedFields a get allocates %v times, with them %v", media, less, whole)
		}
	}
}

// leastAllocations returns the minimum number of allocations over several runs of f. The minimum excludes allocations of
// other goroutines.
func leastAllocations(f func()) float64 {
	least := testing.AllocsPerRun(200, f)
	for range 4 {
		least = min(least, testing.AllocsPerRun(200, f))
	}
	return least
}
