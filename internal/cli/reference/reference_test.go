package reference

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestGenerators(t *testing.T) {
	for kind, files := range map[string]map[string]string{
		"man":        {"cadastre.1": "A Kubernetes-compatible API server", "cadastre-apply.1": "--force-path", "cadastre-own-release.1": "--dry-run"},
		"markdown":   {"cadastre.md": "cadastre serve", "cadastre_serve.md": "~/.local/share/cadastre"},
		"completion": {"cadastre.bash": "__complete", "_cadastre": "compdef", "cadastre.fish": "complete -c cadastre", "cadastre.ps1": "Register-ArgumentCompleter"},
	} {
		folder := filepath.Join(t.TempDir(), "new", kind)
		var stderr bytes.Buffer
		if code := Main([]string{kind, folder}, &stderr); code != 0 {
			t.Fatalf("Main(%s) = %d, want 0: %s", kind, code, stderr.String())
		}
		for name, part := range files {
			content, err := os.ReadFile(filepath.Join(folder, name))
			if err != nil || !strings.Contains(strings.ReplaceAll(string(content), `\-`, "-"), part) {
				t.Errorf("%s/%s does not contain %q: %v", kind, name, part, err)
			}
		}
	}
}

func TestMainUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"man"}, {"pdf", "x"}, {"man", "a", "b"}} {
		var stderr bytes.Buffer
		if code := Main(args, &stderr); code != 2 || !strings.HasPrefix(stderr.String(), "usage: ") {
			t.Errorf("Main(%q) = %d, want 2 and the usage: %s", args, code, stderr.String())
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if code := Main([]string{"man", file}, &bytes.Buffer{}); code != 1 {
		t.Errorf("Main(man FILE) = %d, want 1", code)
	}
}
