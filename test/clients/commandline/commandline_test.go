package commandline

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cadastre/cadastre/internal/cli"
	"github.com/cadastre/cadastre/test/clients/kubectl"
	"github.com/cadastre/cadastre/test/clients/script"
	"github.com/cadastre/cadastre/test/clients/target"
)

func TestMain(m *testing.M) {
	plugin := func() { os.Exit(cli.Plugin(cli.PluginArgs(os.Args), os.Stdout, os.Stderr)) }
	testscript.Main(target.Suite{M: m}, map[string]func(){
		"kubectl":              kubectl.Main,
		"kubectl-own":          plugin,
		"kubectl_complete-own": plugin,
		"cadastre":             func() { os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr)) },
	})
}

func TestScripts(t *testing.T) { script.Run(t) }
