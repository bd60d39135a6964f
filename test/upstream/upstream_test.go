package upstream

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/results.txt")

// source is the folder of the tests in the module k8s.io/kubernetes, files are those that are compiled.
const source = "test/integration/apiserver/cel"

var files = []string{"main_test.go", "admission_test_util.go", "mutatingadmissionpolicy_test.go", "validatingadmissionpolicy_test.go"}

const results = "testdata/results.txt"

// TestPolicies runs Kubernetes' tests of mutating and validating admission policies and compares their results with
// testdata/results.txt.
func TestPolicies(t *testing.T) {
	overlay := writeOverlay(t, kubernetesFolder(t))
	output, err := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-vet=off", "-json", "-overlay", overlay, "./cel").Output()
	got, log := parse(t, output)
	if len(got) == 0 {
		t.Fatalf("expected results of tests, received none: %v\n%s", err, log)
	}
	if *update {
		if err := os.WriteFile(results, []byte(strings.Join(got, "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
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

// kubernetesFolder returns the folder of k8s.io/kubernetes in the module cache. It skips the test if the module is not there.
func kubernetesFolder(t *testing.T) string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/kubernetes")
	list.Dir = "../peers/binaries"
	list.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "GOPROXY=off")
	output, err := list.Output()
	folder := strings.TrimSpace(string(output))
	if err != nil || folder == "" {
		t.Skip("k8s.io/kubernetes is not in the module cache; run make peers")
	}
	return folder
}

// writeOverlay returns the name of a file for go test -overlay that adds Kubernetes' files to the package cel.
func writeOverlay(t *testing.T, kubernetes string) string {
	t.Helper()
	here, err := filepath.Abs("cel")
	if err != nil {
		t.Fatal(err)
	}
	replace := map[string]string{}
	for _, name := range files {
		replace[filepath.Join(here, name)] = filepath.Join(kubernetes, source, name)
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(file, text, 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// parse returns a line "pass NAME", "skip NAME" or "fail NAME" for each test without subtests, sorted by name, and the output of
// tests that failed.
func parse(t *testing.T, output []byte) (lines []string, log string) {
	t.Helper()
	outcomes, logs := map[string]string{}, map[string]string{}
	for scanner := bufio.NewScanner(bytes.NewReader(output)); scanner.Scan(); {
		var event struct{ Action, Test, Output string }
		if err := json.Unmarshal(scanner.Bytes(), &event); err != nil {
			t.Fatal(err)
		}
		logs[event.Test] += event.Output
		if slices.Contains([]string{"pass", "fail", "skip"}, event.Action) {
			outcomes[event.Test] = event.Action
		}
	}
	for name, outcome := range outcomes {
		if outcome == "fail" {
			log += logs[name]
		}
		if name != "" && !hasSubtest(outcomes, name) {
			lines = append(lines, outcome+" "+name)
		}
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[5:], b[5:]) })
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
