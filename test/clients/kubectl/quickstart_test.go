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

// quickstart is the page with the transcript.
const quickstart = "../../../docs/quickstart.md"

// TestQuickstart runs the commands of the blocks in docs/quickstart.md that begin with ```console kubectl, in order, and
// compares what they print with what the page says. Ages and times may differ. CADASTRE_UPDATE=1 writes what
// was received into the page.
func TestQuickstart(t *testing.T) {
	if target.Implementation() != target.Cadastre {
		t.Skip("docs/quickstart.md is about Cadastre")
	}
	content, err := os.ReadFile(quickstart)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	// A server that has nothing else in it, as that of the page.
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
				t.Errorf("%s: $ %s\nreceived:\n%s\nthe page says:\n%s", quickstart, command, got, strings.Join(want, "\n"))
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
		t.Errorf("%s: found no command: a ```console kubectl block has commands that begin with $", quickstart)
	}
	if os.Getenv("CADASTRE_UPDATE") != "" {
		if err := os.WriteFile(quickstart, []byte(strings.Join(page, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// run runs a command of the page, whose folder /tmp/demo is one of the test.
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

// masked returns text without what differs from run to run.
func masked(text string) string {
	return strings.TrimSpace(timePattern.ReplaceAllString(agePattern.ReplaceAllString(text, " AGE"), "TIME"))
}
