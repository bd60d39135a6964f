package serverbench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// The module, package and build tags of the cadastre binary.
const (
	cadastreModule  = "github.com/cadastre/cadastre"
	cadastrePackage = "./cmd/cadastre"
	// cadastreTags are the build tags with which releases are built.
	cadastreTags = "grpcnotrace"
)

// BuildCadastre builds the cadastre binary from the main module into folder, and returns its path.
func BuildCadastre(ctx context.Context, folder string) (program string, err error) {
	source, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", cadastreModule).Output()
	if err != nil {
		return "", fmt.Errorf("locating module %s: %w", cadastreModule, err)
	}
	program = filepath.Join(folder, "cadastre")
	build := exec.CommandContext(ctx, "go", "build", "-tags", cadastreTags, "-o", program, cadastrePackage)
	build.Dir = strings.TrimSpace(string(source))
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", cadastrePackage, err, output)
	}
	return program, nil
}

// Cadastre returns the implementation that starts the given cadastre binary. If the start fails, the error includes
// stderr.
func Cadastre(program string) Implementation {
	return Implementation{"cadastre", func(ctx context.Context, folder string) (*Server, error) {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, err
		}
		kubeconfig := filepath.Join(folder, "kubeconfig")
		cmd := exec.CommandContext(ctx, program, "serve", "--data", filepath.Join(folder, "data"),
			"--listen", "127.0.0.1:0", "--kubeconfig", kubeconfig)
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
		cmd.WaitDelay = stopTimeout
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			return nil, err
		}
		start := time.Now()
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		s := newServer(cmd.Process.Pid, func() error { return terminate(cmd) })
		s.reportsAllocations = true
		if s.URL, err = readyLine(out); err != nil {
			return nil, fmt.Errorf("%s serve: %w: %s", program, errors.Join(err, s.stop()), stderr.Bytes())
		}
		s.Ready = time.Since(start)
		go func() { _, _ = io.Copy(io.Discard, out) }() // the copy ends with the process
		if err := s.trustKubeconfig(kubeconfig); err != nil {
			return nil, errors.Join(err, s.stop())
		}
		return s, nil
	}}
}

// stopTimeout is the maximum time that a server may take to stop after SIGTERM.
const stopTimeout = 20 * time.Second

// terminate sends SIGTERM, and SIGKILL after stopTimeout, and waits until the process has exited.
func terminate(cmd *exec.Cmd) error {
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	kill := time.AfterFunc(stopTimeout, func() { _ = cmd.Process.Kill() }) // Kill returns an error if the process has exited
	defer kill.Stop()
	return cmd.Wait()
}

// readyLine reads from out until a line such as "ready https://127.0.0.1:6443", and returns its URL.
func readyLine(out io.Reader) (string, error) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if url, ok := strings.CutPrefix(lines.Text(), "ready "); ok {
			return url, nil
		}
	}
	return "", errors.Join(errors.New(`the output ended before a line "ready https://HOST:PORT"`), lines.Err())
}

// trustKubeconfig makes the clients of s use the CA bundle and the token of the kubeconfig with the path file.
func (s *Server) trustKubeconfig(file string) error {
	config, err := clientcmd.BuildConfigFromFlags("", file)
	if err != nil {
		return err
	}
	if s.tls, err = rest.TLSConfigFor(config); err != nil {
		return err
	}
	s.token = config.BearerToken
	return nil
}
