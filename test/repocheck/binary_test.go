package repocheck

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// binaryTags are the build tags of releases; see docs/decisions/0008-binary-size.md.
const binaryTags = "grpcnotrace"

// maxBinaryBytes is the maximum size of cadastre as it is released: with binaryTags and without debug information.
const maxBinaryBytes = 60_000_000

// methodLookups are the packages whose import links functions that look up methods by a computed name.
var methodLookups = []string{"html/template", "golang.org/x/net/trace", "net/rpc"}

// TestNoMethodLookupImported: with the tags of releases, cadastre imports no package that makes the linker keep every
// exported method.
func TestNoMethodLookupImported(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "-tags", binaryTags, "./cmd/cadastre")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	linked := strings.Fields(string(out))
	for _, name := range methodLookups {
		for _, found := range linked {
			if found == name {
				t.Errorf("cadastre imports %s, which looks up methods by name: go list -deps -tags %s -json ./cmd/cadastre shows which package imports it", name, binaryTags)
			}
		}
	}
}

// TestBinary: with the tags of releases, no function that looks up methods by a computed name is linked, so that the
// linker drops unused methods, and cadastre stays within its size.
func TestBinary(t *testing.T) {
	skipIfShort(t)
	binary := filepath.Join(t.TempDir(), "cadastre")
	build := exec.Command("go", "build", "-tags", binaryTags, "-ldflags=-s -w -dumpdep", "-o", binary, "./cmd/cadastre")
	build.Dir = root
	dump, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, dump[:min(len(dump), 1000)])
	}
	// A line is FROM <attributes> -> TO <attributes>, in the order in which the linker finds symbols.
	lines := bufio.NewScanner(bytes.NewReader(dump))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if line := lines.Text(); strings.Contains(line, "ReflectMethod") {
			t.Errorf("the linker keeps every exported method: %s; see docs/decisions/0008-binary-size.md", line)
			break
		}
	}
	if err := lines.Err(); err != nil {
		t.Error(err)
	}
	info, err := os.Stat(binary)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("cadastre has %.1f MB", float64(info.Size())/1e6)
	if info.Size() > maxBinaryBytes {
		t.Errorf("cadastre has %d bytes, more than %d: go tool nm -size -sort size shows its symbols", info.Size(), maxBinaryBytes)
	}
}
