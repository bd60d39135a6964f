package cli

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// region is a piece of the process's memory that shows a file.
type region struct{ from, to uintptr }

// forgetStartPages gives back the pages of the program's own file that starting has mapped. Hundreds of packages
// initialise themselves, which touches nearly all of the program once and counts as resident for ever after; what
// serving needs comes back from the page cache by itself, a fault for each piece. Failing changes nothing but a
// number in a process list, so nobody is told.
func forgetStartPages() {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer maps.Close() //nolint:errcheck // It was only read.
	for _, r := range pristineRegions(maps, program) {
		syscall.Syscall(syscall.SYS_MADVISE, r.from, r.to-r.from, syscall.MADV_DONTNEED) //nolint:errcheck // As above.
	}
}

// pristineRegions finds in the text of an smaps file where the program's file is shown as it is on disk. A page
// that was written to, even if it can no longer be, is not in the file: a position-independent program has
// such pages, with the addresses that the loader filled in, and they must stay.
func pristineRegions(smaps io.Reader, program string) []region {
	var found []region
	var current region
	candidate := false
	lines := bufio.NewScanner(smaps)
	for lines.Scan() {
		key, rest, _ := bytes.Cut(lines.Bytes(), []byte(" "))
		if !bytes.HasSuffix(key, []byte(":")) {
			current, candidate = readRegion(string(key), string(rest), program)
			continue
		}
		if candidate && string(key) == "Anonymous:" && string(bytes.TrimSpace(rest)) == "0 kB" {
			found = append(found, current)
		}
	}
	return found
}

// readRegion reads the first line that smaps has for a region: "from-to", and then rights, offset, device, inode
// and path. It says whether the region shows the program and can't be written to.
func readRegion(addresses, rest, program string) (region, bool) {
	from, to, _ := strings.Cut(addresses, "-")
	low, lowErr := strconv.ParseUint(from, 16, 64)
	high, highErr := strconv.ParseUint(to, 16, 64)
	rights, place, _ := strings.Cut(rest, " ")
	mine := strings.HasSuffix(place, " "+program) && strings.HasPrefix(rights, "r-")
	return region{uintptr(low), uintptr(high)}, mine && lowErr == nil && highErr == nil
}
