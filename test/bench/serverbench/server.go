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

// Implementation is a server program that can be started with its data in a folder.
type Implementation struct {
	Name  string
	Start func(ctx context.Context, folder string) (*Server, error)
}

// Server is a running server in a separate process.
type Server struct {
	URL string
	// Ready is the time from the start of the process until it served requests.
	Ready time.Duration

	pid                int // process ID of the server
	store              int // process ID of the server's etcd, or 0 if it has none
	tls                *tls.Config
	token              string
	reportsAllocations bool // whether the server's metrics include heap allocations
	stop               func() error
	serial             atomic.Int64 // a counter for unused names and versions
}

// newServer returns the server that runs in the process pid. stop must stop the process.
func newServer(pid int, stop func() error) *Server {
	s := &Server{pid: pid, stop: stop}
	s.serial.Store(time.Now().UnixMicro()) // the data folder may contain objects of a previous run
	return s
}

// Stop stops the server and waits until it has exited.
func (s *Server) Stop() error { return s.stop() }

// Kill sends SIGKILL, which simulates a crash, and waits until the server has exited.
func (s *Server) Kill() error {
	if err := syscall.Kill(s.pid, syscall.SIGKILL); err != nil {
		return err
	}
	_ = s.stop() // stop returns an error, because the process was killed
	return nil
}

// Usage is the CPU time and memory of the processes of a server.
type Usage struct {
	// CPU is the CPU time of the server; StoreCPU is the CPU time of its etcd, or 0 if it has none.
	CPU, StoreCPU time.Duration
	Memory        proc.Memory
	StoreMemory   proc.Memory
}

// Usage returns the current CPU time and memory of the processes.
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

// Settle waits until the server is idle. After ten seconds it returns nil anyway, because some servers never stop their
// background work.
func (s *Server) Settle(ctx context.Context) error {
	const pause, idleCPU, timeout = 200 * time.Millisecond, 2 * proc.Tick, 10 * time.Second
	deadline := time.Now().Add(timeout)
	for before := time.Duration(-time.Hour); time.Now().Before(deadline); {
		now, err := proc.CPU(s.pid)
		if err != nil || now-before <= idleCPU {
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

// unusedName returns a name that no object has.
func (s *Server) unusedName() string { return fmt.Sprintf("new-%d", s.serial.Add(1)) }

// trustingConfig returns a TLS configuration that trusts authority, a CA bundle in PEM.
func trustingConfig(authority []byte) (*tls.Config, error) {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		return nil, errors.New("CA bundle: must contain a certificate in PEM")
	}
	return &tls.Config{RootCAs: roots}, nil
}
