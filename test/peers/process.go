package peers

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// gracePeriod is how long a process may take to end after it was asked to.
const gracePeriod = 10 * time.Second

// A Process is one of the programs, running.
type Process struct {
	PID int

	log   string        // the file that has what it prints
	ended chan struct{} // closed when it has ended
	err   error         // how it ended; read it only after ended
}

// startProcess runs a program with its log in the folder.
func startProcess(folder, program string, args []string) (*Process, error) {
	p := &Process{log: filepath.Join(folder, filepath.Base(program)+".log"), ended: make(chan struct{})}
	log, err := os.Create(p.log)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = folder
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = endsWithUs()

	started := make(chan error)
	go func() {
		// The kernel ends the child when the thread that made it ends: the thread has to wait for it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer log.Close()
		err := cmd.Start()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
			close(p.ended)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	p.PID = cmd.Process.Pid
	return p, nil
}

// stop asks the process to end, insists when it does not, and waits until it has ended.
func (p *Process) stop() {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		select {
		case <-p.ended:
			return
		default:
			_ = syscall.Kill(p.PID, signal) // it may end meanwhile
		}
		ctx, cancel := context.WithTimeout(context.Background(), gracePeriod)
		select {
		case <-p.ended:
		case <-ctx.Done():
		}
		cancel()
	}
}

// failure describes a process that should have run on.
func (p *Process) failure() error {
	return fmt.Errorf("%s ended: %v; it said last:\n%s", filepath.Base(p.log), p.err, p.lastWords())
}

// lastWords is the end of the log.
func (p *Process) lastWords() []byte {
	const enough = 4 << 10
	log, err := os.ReadFile(p.log)
	if err != nil {
		return []byte(err.Error())
	}
	return log[max(0, len(log)-enough):]
}
