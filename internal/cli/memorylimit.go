package cli

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// minMemoryLimit is the minimum of the flag --memory-limit: below it, the server cannot decode one body of the maximum size.
const minMemoryLimit = 256 << 20

// cgroupFiles are the files with the memory limit of the control group, of versions 2 and 1.
var cgroupFiles = []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}

// maxCgroupLimit is the limit in bytes above which a control group counts as unlimited; version 1 has no other sign for that.
const maxCgroupLimit = 1 << 50

// memoryLimit returns the memory limit of the process in bytes: the value of the flag, or 75 % of the control group's limit, or 0 if
// there is none.
func memoryLimit(flag string) (int64, error) {
	if flag == "" {
		return cgroupMemory(cgroupFiles) / 4 * 3, nil
	}
	quantity, err := resource.ParseQuantity(flag)
	if err != nil || quantity.Value() < minMemoryLimit {
		return 0, fmt.Errorf("--memory-limit: expected a size of at least 256Mi, received %q", flag)
	}
	return quantity.Value(), nil
}

// cgroupMemory returns the limit in the first of the files that exists; 0 if there is no limit.
func cgroupMemory(files []string) int64 {
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err != nil || limit >= maxCgroupLimit {
			return 0 // "max"
		}
		return limit
	}
	return 0
}
