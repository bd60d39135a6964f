// Package etcdtest starts a real etcd for tests.
package etcdtest

import (
	"bytes"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/cadastre/cadastre/internal/lib/testwait"
)

// Process is a running etcd with one member.
type Process struct {
	// Endpoint is the URL for clients.
	Endpoint string

	program string
	args    []string
	log     string
	command *exec.Cmd
	exited  chan struct{}
}

// Start starts an etcd with an empty database, and stops it at the end of the test. It skips the test if etcd is not built: make peers
// builds it into the folder $CADASTRE_PEERS or, if that is not set, into the user's cache folder. The etcd does not call fsync.
func Start(t testing.TB) *Process {
	t.Helper()
	return startProcess(t, freeURL(t, "http"), t.TempDir())
}

// StartTLS is Start with TLS for clients. caFile contains the certificate of the server, which has signed itself.
func StartTLS(t testing.TB) (p *Process, caFile string) {
	t.Helper()
	folder := t.TempDir()
	caFile = filepath.Join(folder, "data", "fixtures", "client", "cert.pem")
	p = startProcess(t, freeURL(t, "https"), folder, "--auto-tls")
	testwait.For(t, "the certificate of etcd", func() bool {
		text, err := os.ReadFile(caFile)
		return err == nil && bytes.Contains(text, []byte("-----END CERTIFICATE-----\n"))
	})
	return p, caFile
}

func startProcess(t testing.TB, client, folder string, args ...string) *Process {
	t.Helper()
	peer := freeURL(t, "http")
	p := &Process{Endpoint: client, program: find(t), log: filepath.Join(folder, "etcd.log"), args: append([]string{
		"--data-dir=" + filepath.Join(folder, "data"), "--listen-client-urls=" + client, "--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=default=" + peer, "--unsafe-no-fsync",
	}, args...)}
	p.Resume(t)
	t.Cleanup(p.Kill)
	return p
}

// find returns the path of etcd.
func find(t testing.TB) string {
	t.Helper()
	pattern := filepath.Join(os.Getenv("CADASTRE_PEERS"), "etcd")
	if os.Getenv("CADASTRE_PEERS") == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		pattern = filepath.Join(cache, "cadastre", "peers", "*", "etcd")
	}
	found, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Skipf("etcd is not built at %s: run make peers", pattern)
	}
	return found[len(found)-1] // the newest release
}

// freeURL returns the URL of an unused port.
func freeURL(t testing.TB, scheme string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return (&url.URL{Scheme: scheme, Host: listener.Addr().String()}).String()
}

// Kill ends the process like kill -9. Its data remain.
func (p *Process) Kill() {
	_ = p.command.Process.Kill() // fails if the process has exited
	<-p.exited
}

// Resume starts the process again after Kill.
func (p *Process) Resume(t testing.TB) {
	t.Helper()
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	p.command = exec.Command(p.program, p.args...)
	p.command.Stdout, p.command.Stderr = log, log
	p.command.SysProcAttr = killWithParent()
	started, exited := make(chan error), make(chan struct{})
	p.exited = exited
	go func() {
		runtime.LockOSThread() // the kernel kills the child when the thread that started it exits
		defer runtime.UnlockOSThread()
		defer close(exited)
		defer log.Close()
		err := p.command.Start()
		started <- err
		if err == nil {
			_ = p.command.Wait() // the process is killed
		}
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
}

// Pause stops the process like a member that does not respond, and Continue ends the pause.
func (p *Process) Pause(t testing.TB) { p.signal(t, syscall.SIGSTOP) }

// Continue ends a pause.
func (p *Process) Continue(t testing.TB) { p.signal(t, syscall.SIGCONT) }

func (p *Process) signal(t testing.TB, signal os.Signal) {
	t.Helper()
	if err := p.command.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
}
