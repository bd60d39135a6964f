package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/cadastre/cadastre/test/bench/proc"
	"github.com/cadastre/cadastre/test/bench/serverbench"
)

// The tokens of the users.
const (
	politeToken  = "token-of-alice"
	hostileToken = "token-of-mallory"
	tokenFile    = politeToken + ",alice,1,\"team\"\n" + hostileToken + ",mallory,2,\"team\"\n"
)

// server is a running server.
type server struct {
	url, ca  string
	admin    *http.Client
	polite   *http.Client
	command  *exec.Cmd
	requests int
}

// startServer starts the server with the tokens of both users.
func startServer(ctx context.Context, o options, folder string) (*server, error) {
	if o.program == "" {
		var err error
		if o.program, err = serverbench.BuildCadastre(ctx, folder); err != nil {
			return nil, err
		}
	}
	tokens, data, kubeconfig := filepath.Join(folder, "tokens.csv"), filepath.Join(folder, "data"), filepath.Join(folder, "kubeconfig")
	if err := os.WriteFile(tokens, []byte(tokenFile), 0o600); err != nil {
		return nil, err
	}
	args := append([]string{"serve", "--data", data, "--listen", "127.0.0.1:0", "--kubeconfig", kubeconfig, "--token-auth-file", tokens}, strings.Fields(o.serverArgs)...)
	s := &server{command: exec.CommandContext(ctx, o.program, args...), ca: filepath.Join(data, "pki", "ca.crt")}
	s.command.Cancel = func() error { return s.command.Process.Signal(syscall.SIGTERM) }
	s.command.WaitDelay = 30 * time.Second
	s.command.Stderr = os.Stderr
	out, err := s.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("waiting for the server: %w", err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	s.url = strings.TrimSpace(strings.TrimPrefix(line, "ready "))
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	secrets, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, err
	}
	s.admin = &http.Client{Transport: &http.Transport{TLSClientConfig: secrets, ForceAttemptHTTP2: true}}
	s.polite = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: secrets.RootCAs}, ForceAttemptHTTP2: true}}
	return s, nil
}

func (s *server) stop() {
	_ = s.command.Process.Signal(syscall.SIGTERM)
	_ = s.command.Wait()
}

// prepare gives both users the role edit, and creates a list of 6 MB.
func (s *server) prepare(ctx context.Context) error {
	const binding = `{"metadata":{"name":"team"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"edit"},"subjects":[{"kind":"Group","name":"team"}]}`
	if err := s.call(ctx, s.admin, "", "POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", "application/json", binding); err != nil {
		return err
	}
	for i := range 6 {
		body := fmt.Sprintf(`{"metadata":{"name":"large-%d"},"data":{"a":%q}}`, i, strings.Repeat("x", 1000<<10))
		if err := s.call(ctx, s.admin, "", "POST", "/api/v1/namespaces/default/configmaps", "application/json", body); err != nil {
			return err
		}
	}
	return nil
}

// call sends a request and reads the response. A status other than 2xx is an error.
func (s *server) call(ctx context.Context, client *http.Client, token, method, path, mediaType, body string) error {
	r, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", mediaType)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode/100 != 2 {
		err = fmt.Errorf("%s %s: %d %.200s", method, path, response.StatusCode, text)
	}
	return err
}

// measure measures small applies of the polite user, each of which changes an object.
func (s *server) measure(ctx context.Context, window, pause time.Duration) (f figures, err error) {
	before, err := proc.CPU(s.command.Process.Pid)
	if err != nil {
		return f, err
	}
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	begun := time.Now()
	for time.Since(begun) < window {
		s.requests++
		body := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"polite"},"data":{"n":"%d"}}`, s.requests)
		at := time.Now()
		limited, cancel := context.WithTimeout(ctx, time.Minute)
		err := s.call(limited, s.polite, politeToken, "PATCH", "/api/v1/namespaces/default/configmaps/polite?fieldManager=m", "application/apply-patch+yaml", body)
		cancel()
		switch {
		case err == nil:
			f.times = append(f.times, time.Since(at))
		case ctx.Err() != nil:
			return f, ctx.Err()
		default:
			if f.failed++; f.firstError == nil {
				f.firstError = err
			}
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return f, ctx.Err()
		}
	}
	slices.Sort(f.times)
	after, err := proc.CPU(s.command.Process.Pid)
	if err != nil {
		return f, err
	}
	memory, err := proc.MemoryOf(s.command.Process.Pid)
	f.cpu, f.memory = (after-before).Seconds()/time.Since(begun).Seconds(), memory.Resident
	return f, err
}

// attack measures the polite user during an attack.
func (s *server) attack(ctx context.Context, o options, name string) (f figures, err error) {
	self, err := os.Executable()
	if err != nil {
		return f, err
	}
	hostile := exec.CommandContext(ctx, "chrt", "--idle", "0", self, "-hostile", name, "-address", strings.TrimPrefix(s.url, "https://"), "-ca", s.ca, "-clients", fmt.Sprint(o.clients))
	hostile.Stderr = os.Stderr
	out, err := hostile.StdoutPipe()
	if err != nil {
		return f, err
	}
	if err := hostile.Start(); err != nil {
		return f, err
	}
	defer func() {
		_ = hostile.Process.Kill()
		_ = hostile.Wait()
	}()
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil { // all clients have sent their first request
		return f, fmt.Errorf("waiting for the clients of %s: %w", name, err)
	}
	return s.measure(ctx, o.window, o.pause)
}
