package upstream

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/results.txt")

// suite is a package of tests of a module that is compiled into a folder of this module.
type suite struct {
	folder, module, source string
	files                  []string
}

const policies = "pkg/admission/plugin/policy/mutating"

var suites = []suite{
	{"cel", "k8s.io/kubernetes", "test/integration/apiserver/cel",
		[]string{"main_test.go", "admission_test_util.go", "mutatingadmissionpolicy_test.go", "validatingadmissionpolicy_test.go"}},
	{"mutating", "k8s.io/apiserver", policies, []string{"compilation_test.go", "dispatcher_test.go"}},
	{"patch", "k8s.io/apiserver", policies + "/patch", []string{"json_patch_test.go", "smd_test.go"}},
}

// imports are packages that are replaced in the tests of k8s.io/apiserver, whose module cannot be replaced, because Cadastre uses it.
var imports = strings.NewReplacer(
	`"k8s.io/apimachinery/pkg/api/equality"`, `"github.com/cadastre/cadastre/test/upstream/equality"`,
	`"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"`, `"github.com/cadastre/cadastre/test/upstream/patch"`,
)

// differences are the tests that fail, with the reasons. Their result is "differs".
var differences = map[string]string{
	"patch.TestJSONPatch/jsonPatch_replace_end_of_list_with_-_not_allowed": "the error has another text: see docs/differences.md, " +
		"Errors of JSON patches name the operation, path and cause",
	"patch.TestApplyConfiguration/apply_configuration_update_listType=map_entry": "the test starts from a volume without a source, " +
		"which a server defaults to an emptyDir before policies see it; kube-apiserver's result is the same",
}

const results = "testdata/results.txt"

// TestPolicies runs Kubernetes' tests of mutating and validating admission policies and compares their results with
// testdata/results.txt.
func TestPolicies(t *testing.T) {
	overlay := writeOverlay(t)
	output, err := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-vet=off", "-json", "-overlay", overlay, "./cel", "./mutating", "./patch").Output()
	got, log := parse(t, output)
	if len(got) == 0 {
		exit := &exec.ExitError{}
		_ = errors.As(err, &exit)
		t.Fatalf("expected results of tests, received none: %v\n%s", err, exit.Stderr)
	}
	if *update {
		write(t, results, strings.Join(got, "\n")+"\n")
		return
	}
	text, err := os.ReadFile(results)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(string(text)), "\n")
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("received %q, which is not in %s", line, results)
		}
	}
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("expected %q", line)
		}
	}
	if t.Failed() {
		t.Log(log)
	}
}

// moduleFolder returns the folder of a module that ../peers/binaries requires, in the module cache. It skips the test if the module is
// not there.
func moduleFolder(t *testing.T, module string) string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", module)
	list.Dir = "../peers/binaries"
	list.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "GOPROXY=off")
	output, err := list.Output()
	folder := strings.TrimSpace(string(output))
	if err != nil || folder == "" {
		t.Skipf("%s is not in the module cache; run make peers", module)
	}
	return folder
}

// writeOverlay returns the name of a file for go test -overlay that adds Kubernetes' tests to the folders of the suites.
func writeOverlay(t *testing.T) string {
	t.Helper()
	folder, replace := t.TempDir(), map[string]string{}
	for _, s := range suites {
		from := filepath.Join(moduleFolder(t, s.module), s.source)
		for _, name := range s.files {
			text, err := os.ReadFile(filepath.Join(from, name))
			if err != nil {
				t.Fatal(err)
			}
			here, err := filepath.Abs(filepath.Join(s.folder, name))
			if err != nil {
				t.Fatal(err)
			}
			replace[here] = filepath.Join(folder, s.folder+"-"+name)
			write(t, replace[here], imports.Replace(string(text)))
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "overlay.json")
	write(t, file, string(text))
	return file
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// parse returns a line "pass NAME", "skip NAME", "differs NAME" or "fail NAME" for each test without subtests, sorted by name, and the output of
// tests that failed.
func parse(t *testing.T, output []byte) (lines []string, log string) {
	t.Helper()
	outcomes, logs := map[string]string{}, map[string]string{}
	for scanner := bufio.NewScanner(bytes.NewReader(output)); scanner.Scan(); {
		var event struct{ Action, Package, Test, Output string }
		if err := json.Unmarshal(scanner.Bytes(), &event); err != nil {
			t.Fatal(err)
		}
		if event.Test != "" {
			event.Test = path.Base(event.Package) + "." + event.Test
		}
		logs[event.Test] += event.Output
		if slices.Contains([]string{"pass", "fail", "skip"}, event.Action) {
			outcomes[event.Test] = event.Action
		}
	}
	for name, outcome := range outcomes {
		if outcome == "fail" && differences[name] != "" {
			outcome = "differs"
		} else if outcome == "fail" && !hasSubtest(outcomes, name) {
			log += logs[name]
		}
		if name != "" && !hasSubtest(outcomes, name) {
			lines = append(lines, outcome+" "+name)
		}
	}
	slices.SortFunc(lines, func(a, b string) int {
		return strings.Compare(a[strings.IndexByte(a, ' '):], b[strings.IndexByte(b, ' '):])
	})
	return lines, log
}

func hasSubtest(outcomes map[string]string, name string) bool {
	for other := range outcomes {
		if strings.HasPrefix(other, name+"/") {
			return true
		}
	}
	return false
}
