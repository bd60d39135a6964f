package helm_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cadastre/cadastre/test/clients/kubectl"
	"github.com/cadastre/cadastre/test/clients/script"
	"github.com/cadastre/cadastre/test/clients/target"
)

func TestMain(m *testing.M) {
	testscript.Main(target.Suite{M: m}, map[string]func(){"kubectl": kubectl.Main})
}

func TestScripts(t *testing.T) { script.Run(t, filepath.Dir(program(t))) }

// program builds Helm unless a cached build exists, and returns the path of the binary.
func program(t *testing.T) string {
	t.Helper()
	build := exec.CommandContext(t.Context(), "go", "-C", "program", "tool", "-n", "helm")
	build.Stderr = os.Stderr
	path, err := build.Output()
	if err != nil {
		t.Fatalf("cannot build Helm from program/go.mod: %v", err)
	}
	return strings.TrimSpace(string(path))
}
