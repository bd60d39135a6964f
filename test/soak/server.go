package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// server is the program under test: a sequence of processes on one data directory.
type server struct {
	program, folder string
	address         string
	memoryLimit     string
	environment     []string

	command *exec.Cmd
	exited  chan error
	log     *logScanner
}

func (s *server) data() string { return filepath.Join(s.folder, "data") }
func (s *server) ca() string   { return filepath.Join(s.data(), "pki", "ca.crt") }
func (s *server) url() string  { return "https://" + s.address }
func (s *server) pid() int     { return s.command.Process.Pid }

// startTimeout is the maximum time until a server is ready. A busy machine takes longer than an idle one.
const startTimeout = 2 * time.Minute

// start starts a process and returns the time until it is ready. The first process chooses the port of all.
func (s *server) start() (time.Duration, error) {
	tokens := filepath.Join(s.folder, "tokens.csv")
	if err := os.WriteFile(tokens, []byte(tokenFile), 0o600); err != nil {
		return 0, err
	}
	listen := s.address
	if listen == "" {
		listen = "127.0.0.1:0"
	}
	s.command = exec.Command(s.program, "serve", "--data", s.data(), "--listen", listen, "--token-auth-file", tokens,
		"--memory-limit", s.memoryLimit, "--storage-min-free", fmt.Sprint(minFree))
	s.command.Env = append(os.Environ(), s.environment...)
	endWithParent(s.command)
	s.command.Stderr = s.log
	out, err := s.command.StdoutPipe()
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := s.command.Start(); err != nil {
		return 0, err
	}
	s.exited = make(chan error, 1)
	ready := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(out).ReadString('\n') // "" if the process ends
		ready <- line
		_, _ = io.Copy(io.Discard, out)
		s.exited <- s.command.Wait()
	}()
	select {
	case line := <-ready:
		address, ok := strings.CutPrefix(strings.TrimSpace(line), "ready https://")
		if !ok {
			return 0, fmt.Errorf("starting the server: expected a line \"ready https://…\", received %q:\n%s", line, s.log.tail())
		}
		s.address = address
		return time.Since(began), nil
	case <-time.After(startTimeout):
		return 0, errors.Join(fmt.Errorf("the server is not ready after %v:\n%s", startTimeout, s.log.tail()), s.command.Process.Kill())
	}
}

// stopTimeout is longer than the time that the server gives to requests in flight after SIGTERM.
const stopTimeout = time.Minute

// stop sends a signal and waits until the process has ended. After SIGTERM the server must exit with 0, unless its disk has failed.
func (s *server) stop(signal syscall.Signal, failed bool) error {
	if err := s.command.Process.Signal(signal); err != nil {
		return fmt.Errorf("the server has ended before %v: %w; its log ends with:\n%s", signal, err, s.log.tail())
	}
	select {
	case err := <-s.exited:
		if signal == syscall.SIGTERM && err != nil && !failed {
			return fmt.Errorf("after SIGTERM: expected exit code 0, received %w; the log ends with:\n%s", err, s.log.tail())
		}
		return nil
	case <-time.After(stopTimeout):
		return errors.Join(fmt.Errorf("the server runs %v after %v; its log ends with:\n%s", stopTimeout, signal, s.log.tail()), s.command.Process.Kill())
	}
}

// hasExited reports whether the process has ended by itself.
func (s *server) hasExited() bool { return len(s.exited) > 0 }

// logScanner writes the log of the server to a file and remembers panics and the last lines. Safe for concurrent use.
type logScanner struct {
	file  *os.File
	judge *judge

	mu   sync.Mutex
	last []string
}

// keptLines is the number of lines that tail returns.
const keptLines = 20

func (l *logScanner) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(string(p)) {
		if l.last = append(l.last, line); len(l.last) > keptLines {
			l.last = l.last[1:]
		}
		if strings.Contains(line, "panic") {
			l.judge.violation(nil, "the server has logged a panic: %s", line)
		}
	}
	return l.file.Write(p)
}

func (l *logScanner) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.last, "")
}

// build builds the program into folder. overlay is the file of a build overlay; "" for none.
func build(ctx context.Context, source, folder, overlay string) (string, error) {
	program, err := filepath.Abs(filepath.Join(folder, "cadastre"))
	if err != nil {
		return "", err
	}
	args := []string{"build", "-buildvcs=false", "-o", program}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	command := exec.CommandContext(ctx, "go", append(args, "./cmd/cadastre")...)
	command.Dir = source
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the server: %w\n%s", err, out)
	}
	return program, nil
}
