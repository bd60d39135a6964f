package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestCompatibility checks that the compatibility table's row for the unreleased version contains the Kubernetes and Go versions
// in go.mod and the data format of the store.
func TestCompatibility(t *testing.T) {
	find := func(file, pattern string) string {
		content, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(pattern).FindSubmatch(content)
		if found == nil {
			t.Fatalf("%s: expected a line that matches %s, found none", file, pattern)
		}
		return string(found[1])
	}
	minor := find("go.mod", `k8s\.io/api v0\.(\d+)\.`)
	want := fmt.Sprintf("| unreleased | 1.%s | 1.26 to 1.%s | %s | %s |", minor, minor,
		find("go.mod", `(?m)^go (\d+\.\d+)`), find("internal/storage/pebble/open.go", `const format = (\d+)`))
	if page := readPage(t, "compatibility.md"); !strings.Contains(page, want) {
		t.Errorf("docs/compatibility.md: expected the row %q; correct the table", want)
	}
}
