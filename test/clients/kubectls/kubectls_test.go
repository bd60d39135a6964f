package kubectls

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/test/clients/script"
	"github.com/cadastre/cadastre/test/clients/target"
	"github.com/cadastre/cadastre/test/peers"
)

func TestMain(m *testing.M) { os.Exit(target.Suite{M: m}.Run()) }

func TestKubectls(t *testing.T) {
	for _, release := range peers.Kubectls {
		t.Run(release, func(t *testing.T) {
			program, err := peers.KubectlOf(release)
			if errors.Is(err, peers.ErrNotBuilt) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			version, err := exec.CommandContext(t.Context(), program, "version", "--client").Output()
			if err != nil || !strings.Contains(string(version), release) {
				t.Fatalf("%s version --client = %s, %v, want the version for which the program was built", program, version, err)
			}
			folder := t.TempDir()
			if err := os.Symlink(program, filepath.Join(folder, "kubectl")); err != nil {
				t.Fatal(err)
			}
			script.Run(t, folder)
		})
	}
}
