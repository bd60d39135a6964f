package script

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"k8s.io/client-go/rest"

	"github.com/cadastre/cadastre/test/clients/target"
)

// KubectlVariable is the environment variable with the path of a kubectl to use instead of the one that is linked into
// the test binary, which is slow with the race detector.
const KubectlVariable = "CADASTRE_KUBECTL"

// Run runs the scripts in testdata concurrently. UPDATE_SCRIPTS=1 updates the files that they compare output with.
// Programs are searched for in folders first, then in PATH.
func Run(t *testing.T, folders ...string) {
	config := target.Config(t)
	discovery := t.TempDir()
	if kubectl := os.Getenv(KubectlVariable); kubectl != "" {
		folders = append(folders, filepath.Dir(kubectl))
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		ContinueOnError:     true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			path := slices.Concat(folders, []string{env.Getenv("PATH")}) // Concat copies the slice, because scripts are set up concurrently
			env.Setenv("PATH", strings.Join(path, string(filepath.ListSeparator)))
			return setUp(t, env, config, discovery)
		},
		Condition: condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"json":       jsonCommand,
			"eventually": eventuallyCommand,
			"owners":     ownersCommand,
		},
	})
}

func condition(name string) (bool, error) {
	if name != target.Cadastre && name != target.KubeAPIServer {
		return false, fmt.Errorf("unknown condition %q", name)
	}
	return name == target.Implementation(), nil
}

// setUp prepares the folder and environment of a script. All scripts share discovery, the folder of a discovery cache,
// because they use the same server, and discovery is most of the work of a short kubectl command.
func setUp(t *testing.T, env *testscript.Env, config *rest.Config, discovery string) error {
	folder := filepath.Join(env.WorkDir, ".client")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	namespace := target.Namespace(t)
	files := map[string][]byte{
		"ca.crt":     config.CAData,
		"client.crt": config.CertData,
		"client.key": config.KeyData,
		".curlrc":    curlrc(config, folder),
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			return err
		}
	}
	if err := target.WriteKubeconfig(filepath.Join(folder, "kubeconfig"), config, namespace); err != nil {
		return err
	}
	env.Setenv("HOME", folder)
	env.Setenv("KUBECONFIG", filepath.Join(folder, "kubeconfig"))
	env.Setenv("KUBECACHEDIR", discovery)
	env.Setenv("NAMESPACE", namespace)
	env.Setenv("SERVER", config.Host)
	env.Setenv("TOKEN", config.BearerToken)
	env.Setenv("CACERT", filepath.Join(folder, "ca.crt"))
	env.Setenv("CURL_HOME", folder)
	env.Setenv("TZ", "UTC")
	return nil
}

func curlrc(config *rest.Config, folder string) []byte {
	credentials := []string{`header = "Authorization: Bearer ` + config.BearerToken + `"`}
	if len(config.CertData) > 0 {
		credentials = []string{"cert = " + filepath.Join(folder, "client.crt"), "key = " + filepath.Join(folder, "client.key")}
	}
	return []byte(strings.Join(append(credentials,
		"cacert = "+filepath.Join(folder, "ca.crt"),
		"silent",
		"show-error",
		"fail-with-body",
		`write-out = "%{stderr}HTTP %{http_code}\n"`,
	), "\n") + "\n")
}
