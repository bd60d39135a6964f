package kubectl_test

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cadastre/cadastre/test/clients/kubectl"
	"github.com/cadastre/cadastre/test/clients/script"
	"github.com/cadastre/cadastre/test/clients/target"
)

func TestMain(m *testing.M) {
	testscript.Main(target.Suite{M: m}, map[string]func(){"kubectl": kubectl.Main})
}

func TestScripts(t *testing.T) { script.Run(t) }
