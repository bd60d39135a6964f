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

// Kubectls are the releases of kubectl that migrate from client-side to server-side apply: the first of them
// did in 1.26. Each is the last of its minor version that is known here.
var Kubectls = []string{
	"v1.26.15", "v1.27.16", "v1.28.15", "v1.29.15", "v1.30.14", "v1.31.14",
	"v1.32.13", "v1.33.13", "v1.34.13", "v1.35.10", "v1.36.3", "v1.37.2",
}

// kubectlMain is the program: kubectl's module has everything but a main function.
//
//go:embed kubectl.txt
var kubectlMain []byte

// KubectlOf is the path of a release of kubectl that has been built, or an error that is [ErrNotBuilt]. That of
// [KubernetesVersion] may be among the peers' own programs.
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
		return "", fmt.Errorf("kubectl %s is %w in %s: run make kubectls, or set %s to the folder that has it",
			release, ErrNotBuilt, folder, FolderVariable)
	}
	return file, nil
}

// BuildKubectls compiles releases of kubectl to [Folder], one after the other. Those that are there are left
// alone. One that can't be built does not keep the others from it: the error tells about each.
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

// buildKubectl makes a module that needs nothing but one release of kubectl's, so that Go chooses the very
// versions that kubectl was released with, and compiles it.
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
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building kubectl %s: %w: %s", release, err, said)
	}
	return nil
}
