package repocheck

import (
	"bytes"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestFormat(t *testing.T) {
	for _, file := range goFiles(t) {
		formatted, err := format.Source(file.source)
		if err != nil {
			t.Errorf("%s:1: %v", file.name, err)
			continue
		}
		if !bytes.Equal(formatted, file.source) {
			t.Errorf("%s:%d: not formatted: run make fmt", file.name, firstDifference(formatted, file.source))
		}
	}
}

func TestVet(t *testing.T) {
	skipIfShort(t)
	lint(t, "go", "vet", "./...")
}

// TestStaticcheck runs the release of staticcheck that test/tools/go.mod requires. The first run downloads and builds
// it.
func TestStaticcheck(t *testing.T) {
	skipIfShort(t)
	if _, err := os.Stat(filepath.Join(root, "test", "tools", "go.mod")); err != nil {
		t.Skip("the tools module is not part of a published module")
	}
	build := exec.Command("go", "-C", filepath.Join(root, "test", "tools"), "tool", "-n", "staticcheck")
	build.Stderr = os.Stderr
	binary, err := build.Output()
	if err != nil {
		t.Fatalf("cannot build staticcheck from test/tools/go.mod: %v", err)
	}
	lint(t, strings.TrimSpace(string(binary)), "./...")
}

// lint runs the linter name with args in the root module, and fails the test with the output of the linter if that
// reports a finding.
func lint(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s %s: %v\n%s", filepath.Base(name), strings.Join(args, " "), err, out)
	}
}

func skipIfShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles every package; left out with -short")
	}
}

// firstDifference returns the number of the first line in which a and b differ, starting with 1.
func firstDifference(a, b []byte) int {
	line := 1
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			break
		}
		if a[i] == '\n' {
			line++
		}
	}
	return line
}
