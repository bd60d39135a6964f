package cli

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const smaps = `00400000-00402000 r--p 00000000 fe:00 42                       /bin/a program
Size:                  8 kB
Rss:                   8 kB
Anonymous:             0 kB
00402000-01e2d000 r-xp 00002000 fe:00 42                       /bin/a program
Rss:               26104 kB
Anonymous:             0 kB
01e2d000-03bf5000 r--p 01a2d000 fe:00 42                       /bin/a program
Rss:               30476 kB
Anonymous:            16 kB
03bf6000-03ccb000 rw-p 037f6000 fe:00 42                       /bin/a program
Rss:                 852 kB
Anonymous:             0 kB
7f0000000000-7f0000001000 r--p 00000000 fe:00 43               /bin/another program
Anonymous:             0 kB
7f0000002000-7f0000003000 r--p 00000000 00:00 0 
Anonymous:             0 kB
`

func TestOnlyUntouchedPiecesOfTheProgramAreGivenBack(t *testing.T) {
	want := []region{{0x400000, 0x402000}, {0x402000, 0x1e2d000}}
	if got := pristineRegions(strings.NewReader(smaps), "/bin/a program"); !slices.Equal(got, want) {
		t.Errorf("expected %x, received %x", want, got)
	}
}

// The test's own program goes, is read again from its file, and goes on.
func TestPagesOfTheStartGoAndComeBack(t *testing.T) {
	before := resident(t)
	forgetStartPages()
	if after := resident(t); after >= before {
		t.Errorf("expected fewer than the %d kB of the program that were resident, received %d kB", before, after)
	}
	for range 3 {
		forgetStartPages()
	}
}

// resident is how many kB of the program are in memory, of the regions of which nothing was written to.
func resident(t *testing.T) int {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, r := range pristineRegions(bytes.NewReader(maps), program) {
		_, entry, _ := strings.Cut(string(maps), fmt.Sprintf("%08x-%08x ", r.from, r.to))
		_, rss, _ := strings.Cut(entry, "\nRss:")
		kB, err := strconv.Atoi(strings.Fields(rss)[0])
		if err != nil {
			t.Fatal(err)
		}
		total += kB
	}
	if total == 0 {
		t.Fatalf("expected regions that show %s, received none in\n%s", program, maps)
	}
	return total
}
