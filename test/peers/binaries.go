package peers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// KubernetesVersion is the Kubernetes release that binaries/go.mod requires. TestVersionIsPinned compares the two.
const KubernetesVersion = "v1.37.1"

// FolderVariable is the environment variable with the folder that contains the built programs.
const FolderVariable = "CADASTRE_PEERS"

// File names of the programs.
const (
	Etcd                  = "etcd"
	KubeAPIServer         = "kube-apiserver"
	Kubectl               = "kubectl"
	KubeScheduler         = "kube-scheduler"
	KubeControllerManager = "kube-controller-manager"
)

// packages lists the programs with the Go packages from which they are built, the smallest program first, so that a
// failing build fails early.
var packages = []struct{ program, source string }{
	{Etcd, "go.etcd.io/etcd/server/v3"},
	{KubeAPIServer, "k8s.io/kubernetes/cmd/kube-apiserver"},
	{Kubectl, "k8s.io/kubernetes/cmd/kubectl"},
	{KubeScheduler, "k8s.io/kubernetes/cmd/kube-scheduler"},
	{KubeControllerManager, "k8s.io/kubernetes/cmd/kube-controller-manager"},
}

// Usual lists the programs that most tests require.
var Usual = []string{Etcd, KubeAPIServer, Kubectl}

// targets maps programs that are not in Usual to the make targets that build them.
var targets = map[string]string{KubeScheduler: "make scheduler", KubeControllerManager: "make controller-manager"}

// ErrNotBuilt is the error for a program that is not built. Tests that require the program are then skipped.
var ErrNotBuilt = errors.New("not built")

// Folder returns the folder of the built programs: $CADASTRE_PEERS or, if it is not set, cadastre/peers/VERSION in the
// user's cache folder. VERSION keeps the programs of checkouts apart that require different Kubernetes releases.
func Folder() (string, error) {
	if folder := os.Getenv(FolderVariable); folder != "" {
		return filepath.Abs(folder)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("cannot determine the cache folder for the programs; set %s: %w", FolderVariable, err)
	}
	return filepath.Join(cache, "cadastre", "peers", KubernetesVersion), nil
}

// Program returns the path of the program with the given file name. It returns [ErrNotBuilt] if the program is not
// built.
func Program(name string) (string, error) {
	folder, err := Folder()
	if err != nil {
		return "", err
	}
	file := filepath.Join(folder, name)
	if _, err := os.Stat(file); err != nil {
		target := cmp.Or(targets[name], "make peers")
		return "", fmt.Errorf("%s is %w in %s: run %s, or set %s to its folder",
			name, ErrNotBuilt, folder, target, FolderVariable)
	}
	return file, nil
}

// Build compiles programs from the module in the folder source (binaries/) to [Folder]. Programs that are up to date
// are not compiled again.
func Build(ctx context.Context, source string, programs ...string) error {
	folder, err := Folder()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, p := range packages {
		if !slices.Contains(programs, p.program) {
			continue
		}
		output := filepath.Join(folder, p.program)
		fmt.Fprintf(os.Stderr, "building %s\n", output)
		cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", linkerFlags(KubernetesVersion), "-o", output, p.source)
		cmd.Dir = source
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("building %s from %s: %w", p.program, p.source, err)
		}
	}
	return nil
}

// linkerFlags returns the linker flags that set the version variables as in the build of the given Kubernetes release.
// A binary without these variables reports v0.0.0, and selects its feature gates accordingly.
func linkerFlags(release string) string {
	major, rest, _ := strings.Cut(strings.TrimPrefix(release, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	flags := []string{"-s", "-w"}
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		for _, setting := range []string{
			"gitVersion=" + release, "gitMajor=" + major, "gitMinor=" + minor, "gitTreeState=clean",
		} {
			flags = append(flags, "-X", pkg+"."+setting)
		}
	}
	return strings.Join(flags, " ")
}
