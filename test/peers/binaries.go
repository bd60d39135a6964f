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

// KubernetesVersion is the release that binaries/go.mod pins. A test holds the two together.
const KubernetesVersion = "v1.36.3"

// FolderVariable is the environment variable that names the folder of the programs.
const FolderVariable = "CADASTRE_PEERS"

// The programs, by the name of their file.
const (
	Etcd          = "etcd"
	KubeAPIServer = "kube-apiserver"
	Kubectl       = "kubectl"
	KubeScheduler = "kube-scheduler"
)

// packages says from which package each program is built. The small one comes first, so that a build
// that cannot work says so early.
var packages = []struct{ program, source string }{
	{Etcd, "go.etcd.io/etcd/server/v3"},
	{KubeAPIServer, "k8s.io/kubernetes/cmd/kube-apiserver"},
	{Kubectl, "k8s.io/kubernetes/cmd/kubectl"},
	{KubeScheduler, "k8s.io/kubernetes/cmd/kube-scheduler"},
}

// Usual are the programs that most tests need.
var Usual = []string{Etcd, KubeAPIServer, Kubectl}

// targets are the make targets that build programs which are not among the usual ones.
var targets = map[string]string{KubeScheduler: "make scheduler"}

// ErrNotBuilt says that a program is missing. Tests skip on it.
var ErrNotBuilt = errors.New("not built")

// Folder is where the programs are: what CADASTRE_PEERS says, or cadastre/peers in the user's cache folder.
func Folder() (string, error) {
	if folder := os.Getenv(FolderVariable); folder != "" {
		return filepath.Abs(folder)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder for the peers' programs: set %s: %w", FolderVariable, err)
	}
	return filepath.Join(cache, "cadastre", "peers"), nil
}

// Program is the path of a program that has been built, or an error that is [ErrNotBuilt].
func Program(name string) (string, error) {
	folder, err := Folder()
	if err != nil {
		return "", err
	}
	file := filepath.Join(folder, name)
	if _, err := os.Stat(file); err != nil {
		target := cmp.Or(targets[name], "make peers")
		return "", fmt.Errorf("%s is %w in %s: run %s, or set %s to the folder that has it",
			name, ErrNotBuilt, folder, target, FolderVariable)
	}
	return file, nil
}

// Build compiles programs from the module in the folder source (binaries/) to [Folder]. Programs that are up to date are left
// alone.
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

// linkerFlags sets what Kubernetes' release build sets: a binary that does not know its version says
// v0.0.0, and picks its feature gates accordingly.
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
