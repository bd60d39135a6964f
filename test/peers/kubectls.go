package peers

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Kubectls lists the releases of kubectl that can migrate from client-side to server-side apply: the latest known patch
// release of each minor version since 1.26.
var Kubectls = []string{
	"v1.26.15", "v1.27.16", "v1.28.15", "v1.29.15", "v1.30.14", "v1.31.14",
	"v1.32.13", "v1.33.13", "v1.34.13", "v1.35.10", "v1.36.3", "v1.37.1",
}

// kubectlMain is the source of the main function, which kubectl's module does not contain.
//
//go:embed kubectl.txt
var kubectlMain []byte

// KubectlOf returns the path of the kubectl of the given release. It returns [ErrNotBuilt] if that release is not
// built. For [KubernetesVersion] it prefers the kubectl that Build has built.
func KubectlOf(release string) (string, error) {
	if file, err := Program(Kubectl); err == nil && release == KubernetesVersion {
		return file, nil
	}
	folder, err := Folder()
	if err != nil {
		return "", err
	}
	file := filepath.Join(folder, Kubectl+"-"+release)
	if _, err := os.Stat(file); err != nil {
		return "", fmt.Errorf("kubectl %s is %w in %s: run make kubectls, or set %s to its folder",
			release, ErrNotBuilt, folder, FolderVariable)
	}
	return file, nil
}

// BuildKubectls compiles releases of kubectl to [Folder], one after another, and skips those that exist. After a
// failure it continues with the other releases; the error lists all failures.
func BuildKubectls(ctx context.Context, releases []string) error {
	var failed []string
	for _, release := range releases {
		if _, err := KubectlOf(release); err == nil {
			continue
		}
		if err := buildKubectl(ctx, release); err != nil {
			failed = append(failed, err.Error())
		}
		if ctx.Err() != nil {
			break
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("%s", strings.Join(failed, "\n"))
	}
	return nil
}

// buildKubectl compiles the kubectl of the given release, in a module that requires nothing else, so that Go selects
// the versions of dependencies with which kubectl was released.
func buildKubectl(ctx context.Context, release string) error {
	folder, err := Folder()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	source, err := os.MkdirTemp("", "kubectl-"+release+"-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(source)
	module := "module kubectl\n\ngo 1.26.0\n\nrequire k8s.io/kubectl v0." + strings.TrimPrefix(release, "v1.") + "\n"
	for name, content := range map[string][]byte{"go.mod": []byte(module), "main.go": kubectlMain} {
		if err := os.WriteFile(filepath.Join(source, name), content, 0o600); err != nil {
			return err
		}
	}
	output := filepath.Join(folder, Kubectl+"-"+release)
	fmt.Fprintf(os.Stderr, "building %s\n", output)
	cmd := exec.CommandContext(ctx, "go", "build", "-mod=mod", "-trimpath", "-ldflags", linkerFlags(release), "-o", output, ".")
	cmd.Dir = source
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building kubectl %s: %w: %s", release, err, output)
	}
	return nil
}
