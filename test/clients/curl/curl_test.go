package curl

import (
	"os/exec"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cadastre/cadastre/test/clients/script"
	"github.com/cadastre/cadastre/test/clients/target"
)

func TestMain(m *testing.M) {
	testscript.Main(target.Suite{M: m}, nil)
}

func TestScripts(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	script.Run(t)
}
