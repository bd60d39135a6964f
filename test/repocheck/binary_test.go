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

// binaryTags are the build tags with which releases are built; see docs/decisions/0008-binary-size.md.
const binaryTags = "grpcnotrace"

// maxBinaryBytes is the maximum size of the released cadastre binary: built with binaryTags and without debug
// information.
const maxBinaryBytes = 60_000_000

// methodLookups lists packages that contain functions which look up methods by a computed name. If such a function is
// linked, the linker keeps every exported method.
var methodLookups = []string{"html/template", "golang.org/x/net/trace", "net/rpc"}

// TestNoMethodLookupImported checks that cadastre, with the build tags of releases, imports none of the packages in
// methodLookups.
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

// TestBinary checks that cadastre, with the build tags of releases, contains no function that looks up methods by a
// computed name, because the linker would then keep unused methods. It also checks that the size of cadastre is at most
// maxBinaryBytes.
func TestBinary(t *testing.T) {
	skipIfShort(t)
	binary := filepath.Join(t.TempDir(), "cadastre")
	build := exec.Command("go", "build", "-tags", binaryTags, "-ldflags=-s -w -dumpdep", "-o", binary, "./cmd/cadastre")
	build.Dir = root
	dump, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, dump[:min(len(dump), 1000)])
	}
	// Each line of the linker's dump is FROM <attributes> -> TO <attributes>. The lines are in the order in which the
	// linker finds symbols.
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
