package kubectl_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/cadastretest"
	"github.com/cadastre/cadastre/test/clients/script"
	"github.com/cadastre/cadastre/test/clients/target"
)

// quickstart is the path of the page whose commands are tested.
const quickstart = "../../../docs/quickstart.md"

// TestQuickstart runs the commands of the blocks in docs/quickstart.md that begin with ```console kubectl, in order, and compares
// their output with the page. Ages and times may differ. CADASTRE_UPDATE=1 writes the actual output into the page.
func TestQuickstart(t *testing.T) {
	if target.Implementation() != target.Cadastre {
		t.Skip("docs/quickstart.md is about Cadastre")
	}
	content, err := os.ReadFile(quickstart)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	// The page assumes an empty server.
	if err := target.WriteKubeconfig(filepath.Join(folder, "kubeconfig"), cadastretest.Start(t), ""); err != nil {
		t.Fatal(err)
	}
	inBlock, commands := false, 0
	var page, want []string
	command := ""
	finish := func() {
		if command == "" {
			return
		}
		got := run(t, folder, command)
		if masked(got) != masked(strings.Join(want, "\n")) {
			if os.Getenv("CADASTRE_UPDATE") == "" {
				t.Errorf("%s: $ %s\ngot:\n%s\nwant:\n%s", quickstart, command, got, strings.Join(want, "\n"))
			}
			want = strings.Split(got, "\n")
		}
		if strings.Join(want, "") != "" {
			page = append(page, want...)
		}
		command, want = "", nil
	}
	for _, line := range strings.Split(string(content), "\n") {
		next, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case inBlock && line == "```":
			finish()
			inBlock = false
		case inBlock && isCommand:
			finish()
			command = next
			commands++
		case inBlock:
			want = append(want, line)
			continue
		case line == "```console kubectl":
			inBlock = true
		}
		page = append(page, line)
	}
	if commands == 0 {
		t.Errorf("%s: found no commands, want ```console kubectl blocks with lines that begin with $", quickstart)
	}
	if os.Getenv("CADASTRE_UPDATE") != "" {
		if err := os.WriteFile(quickstart, []byte(strings.Join(page, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// run executes command, a command of the page, and returns its output. It replaces the folder /tmp/demo of the page
// with folder.
func run(t *testing.T, folder, command string) string {
	t.Helper()
	shell := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(command, "/tmp/demo", folder))
	shell.Dir = folder
	shell.Env = append(os.Environ(), "HOME="+folder, "KUBECONFIG="+filepath.Join(folder, "kubeconfig"))
	if kubectl := os.Getenv(script.KubectlVariable); kubectl != "" {
		shell.Env = append(shell.Env, "PATH="+filepath.Dir(kubectl)+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	output, err := shell.CombinedOutput()
	if err != nil {
		t.Errorf("%s: $ %s: %v: %s", quickstart, command, err, output)
	}
	return strings.TrimSpace(strings.ReplaceAll(string(output), folder, "/tmp/demo"))
}

var (
	agePattern  = regexp.MustCompile(` +\d+m?s`)
	timePattern = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
)

// masked returns text with placeholders instead of ages and times.
func masked(text string) string {
	return strings.TrimSpace(timePattern.ReplaceAllString(agePattern.ReplaceAllString(text, " AGE"), "TIME"))
}
