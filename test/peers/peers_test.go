package peers

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// start starts a control plane for the test, or skips the test if the programs are not built.
func start(t *testing.T) *ControlPlane {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c, err := Start(ctx, Options{})
	if errors.Is(err, ErrNotBuilt) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Stop)
	return c
}

func TestStart(t *testing.T) {
	c := start(t)

	var version struct{ GitVersion, Major, Minor string }
	if err := json.Unmarshal(get(t, c, "/version"), &version); err != nil {
		t.Fatal(err)
	}
	if version.GitVersion != KubernetesVersion || version.Major != "1" || version.Minor != "37" {
		t.Errorf("version of kube-apiserver = %+v, want %s", version, KubernetesVersion)
	}

	for name, process := range map[string]*Process{Etcd: c.Etcd, KubeAPIServer: c.APIServer} {
		usage, err := UsageOf(process.PID)
		if err != nil {
			t.Fatal(err)
		}
		if usage.CPU < 50*time.Millisecond || usage.RSS < 10<<20 || usage.Peak < usage.RSS {
			t.Errorf("UsageOf(%s) = %+v, want CPU of 50 ms or more, RSS of 10 MiB or more, and Peak of RSS or more", name, usage)
		}
	}
}

func TestStopCleansUp(t *testing.T) {
	c := start(t)
	c.Stop()
	for _, process := range []*Process{c.Etcd, c.APIServer} {
		if err := syscall.Kill(process.PID, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("Kill(%d, 0) after Stop() = %v, want ESRCH", process.PID, err)
		}
	}
	if _, err := os.Stat(c.folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Stat(%s) after Stop() = %v, want ErrNotExist", c.folder, err)
	}
}

func TestFailureHasLog(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c, err := Start(ctx, Options{Args: []string{"--no-such-flag"}})
	if errors.Is(err, ErrNotBuilt) {
		t.Skip(err)
	}
	if err == nil {
		c.Stop()
		t.Fatal("Start() with an unknown flag = nil, want an error")
	}
	if want := regexp.MustCompile(`(?s)kube-apiserver.* exited unexpectedly: exit status 1.*unknown flag: --no-such-flag`); !want.MatchString(err.Error()) {
		t.Errorf("Start() = %q, want an error that matches %s", err, want)
	}
}

func TestNotBuilt(t *testing.T) {
	t.Setenv(FolderVariable, t.TempDir())
	if _, err := Start(t.Context(), Options{}); !errors.Is(err, ErrNotBuilt) {
		t.Errorf("Start() with an empty folder = %v, want ErrNotBuilt", err)
	}
}

// TestVersionIsPinned checks that KubernetesVersion is the version in binaries/go.mod.
func TestVersionIsPinned(t *testing.T) {
	module, err := os.ReadFile("binaries/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if want := regexp.MustCompile(`k8s\.io/kubernetes ` + regexp.QuoteMeta(KubernetesVersion) + `\b`); !want.Match(module) {
		t.Errorf("binaries/go.mod does not require k8s.io/kubernetes %s", KubernetesVersion)
	}
}

func TestCPUTime(t *testing.T) {
	const stat = "42 (a (strange) name) S 1 42 42 0 -1 4194560 100 0 0 0 250 50 7 7 20 0 9 0 100 1000 200"
	if got, err := cpuTime([]byte(stat)); err != nil || got != 3*time.Second {
		t.Errorf("cpuTime() = %v, %v, want 3s", got, err)
	}
	if got, err := cpuTime([]byte("42 (short) S 1")); err == nil {
		t.Errorf("cpuTime() of a short line = %v, want an error", got)
	}
}

func get(t *testing.T, c *ControlPlane, path string) []byte {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(c.CA)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.Host+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+c.Token)
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: got status %s, %v: %s; want 200", path, response.Status, err, body)
	}
	return body
}

// TestKubectls checks that the releases are in ascending order, one for each minor version, and include that of
// kube-apiserver.
func TestKubectls(t *testing.T) {
	for i, release := range Kubectls {
		if want := fmt.Sprintf("v1.%d.", 26+i); !strings.HasPrefix(release, want) {
			t.Errorf("Kubectls[%[3]d] = %[1]s, want %[2]sx", release, want, i)
		}
	}
	if !slices.Contains(Kubectls, KubernetesVersion) {
		t.Errorf("Kubectls = %v, want %s included", Kubectls, KubernetesVersion)
	}
	t.Setenv(FolderVariable, t.TempDir())
	if _, err := KubectlOf(Kubectls[0]); !errors.Is(err, ErrNotBuilt) {
		t.Errorf("KubectlOf() with an empty folder = %v, want ErrNotBuilt", err)
	}
}
