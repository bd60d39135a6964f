package cli

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMemoryLimit(t *testing.T) {
	for flag, want := range map[string]int64{"2Gi": 2 << 30, "256Mi": 256 << 20, "300000000": 300_000_000, "255Mi": 0, "lots": 0, "-1Gi": 0} {
		if got, err := memoryLimit(flag); got != want || (err == nil) != (want > 0) {
			t.Errorf("memoryLimit(%q) = %d, %v, want %d", flag, got, err, want)
		}
	}
	missing := filepath.Join(t.TempDir(), "missing")
	for text, want := range map[string]int64{"max\n": 0, "4294967296\n": 4 << 30, "9223372036854771712\n": 0, "": 0} {
		name := filepath.Join(t.TempDir(), "memory.max")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := cgroupMemory([]string{missing, name}); got != want {
			t.Errorf("limit of a control group with %q: got %d, want %d", text, got, want)
		}
	}
	if got := cgroupMemory([]string{missing}); got != 0 {
		t.Errorf("limit without a control group: got %d, want 0", got)
	}
}
