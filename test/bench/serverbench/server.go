package serverbench

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cadastre/cadastre/test/bench/proc"
)

// A Side starts a server with its data in a folder.
type Side struct {
	Name  string
	Start func(ctx context.Context, folder string) (*Server, error)
}

// A Server runs in processes of its own and is driven from this one.
type Server struct {
	URL string
	// Ready is how long it took from the start of its process until it served.
	Ready time.Duration

	pid    int // of the server
	store  int // of the store that it needs beside it, or 0
	tls    *tls.Config
	token  string
	tells  bool // what it has allocated
	stop   func() error
	serial atomic.Int64 // of names that nobody had yet
}

// newServer is one whose process has started.
func newServer(pid int, stop func() error) *Server {
	s := &Server{pid: pid, stop: stop}
	s.serial.Store(time.Now().UnixMicro()) // its folder may have what another run made
	return s
}

// Stop ends the server and waits until it has ended.
func (s *Server) Stop() error { return s.stop() }

// Kill ends the server as a crash does.
func (s *Server) Kill() error {
	if err := syscall.Kill(s.pid, syscall.SIGKILL); err != nil {
		return err
	}
	_ = s.stop() // which tells that it was killed
	return nil
}

// Usage is what the processes of a server have used, and have.
type Usage struct {
	// CPU is that of the server, StoreCPU that of the store beside it, if it needs one.
	CPU, StoreCPU time.Duration
	Memory        proc.Memory
	StoreMemory   proc.Memory
}

// Usage reads it.
func (s *Server) Usage() (u Usage, err error) {
	u.CPU, u.Memory, err = usageOf(s.pid)
	if err == nil && s.store != 0 {
		u.StoreCPU, u.StoreMemory, err = usageOf(s.store)
	}
	return u, err
}

func usageOf(pid int) (time.Duration, proc.Memory, error) {
	cpu, err := proc.CPU(pid)
	if err != nil {
		return 0, proc.Memory{}, err
	}
	memory, err := proc.MemoryOf(pid)
	return cpu, memory, err
}

// Settle waits until the server does nothing by itself any more, but not for long: some always do a little.
func (s *Server) Settle(ctx context.Context) error {
	const pause, little, long = 200 * time.Millisecond, 2 * proc.Tick, 10 * time.Second
	deadline := time.Now().Add(long)
	for before := time.Duration(-time.Hour); time.Now().Before(deadline); {
		now, err := proc.CPU(s.pid)
		if err != nil || now-before <= little {
			return err
		}
		before = now
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
	return nil
}

// unused is a name that no object has yet.
func (s *Server) unused() string { return fmt.Sprintf("new-%d", s.serial.Add(1)) }

// trusting is the configuration of clients that trust an authority.
func trusting(authority []byte) (*tls.Config, error) {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		return nil, errors.New("expected a certificate in PEM as the server's authority, received none")
	}
	return &tls.Config{RootCAs: roots}, nil
}
