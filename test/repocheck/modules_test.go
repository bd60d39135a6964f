package repocheck

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestModulesCanBeInstalled checks the go.mod files of the published modules: the main module has neither replacements nor exclusions,
// which go install and go run reject for a version, and the others replace only each other, by versions that are released
// together.
func TestModulesCanBeInstalled(t *testing.T) {
	const runtime = "github.com/cadastre/cadastre/applyruntime"
	for folder, replaced := range map[string][]string{".": nil, "applyruntime": nil, "applyconfig": {runtime}} {
		out, err := exec.Command("go", "mod", "edit", "-json", filepath.Join(root, folder, "go.mod")).Output()
		if err != nil {
			t.Fatalf("go mod edit: %v", err)
		}
		var mod struct {
			Replace []struct{ Old struct{ Path string } }
			Exclude []struct{ Path string }
		}
		if err := json.Unmarshal(out, &mod); err != nil {
			t.Fatal(err)
		}
		if len(mod.Exclude) > 0 {
			t.Errorf("%s/go.mod: expected no exclusions, received %v", folder, mod.Exclude)
		}
		for i, r := range mod.Replace {
			if i >= len(replaced) || r.Old.Path != replaced[i] {
				t.Errorf("%s/go.mod: expected replacements of %v only, received one of %s; require a released version", folder, replaced, r.Old.Path)
			}
		}
	}
}
