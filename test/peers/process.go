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

// gracePeriod is the time between SIGTERM and SIGKILL.
const gracePeriod = 10 * time.Second

// Process is a running program.
type Process struct {
	PID int

	log   string        // path of the log file
	ended chan struct{} // closed when the process has ended
	err   error         // result of Wait; valid after ended is closed
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
	cmd.SysProcAttr = killWithParent()

	started := make(chan error)
	go func() {
		// Pdeathsig is sent when the thread that started the child exits: the thread has to wait for the child.
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

// stop sends SIGTERM, and SIGKILL after the grace period, and waits until the process has ended.
func (p *Process) stop() {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		select {
		case <-p.ended:
			return
		default:
			_ = syscall.Kill(p.PID, signal) // the process may have ended already
		}
		ctx, cancel := context.WithTimeout(context.Background(), gracePeriod)
		select {
		case <-p.ended:
		case <-ctx.Done():
		}
		cancel()
	}
}

// failure returns the error of a process that ended unexpectedly.
func (p *Process) failure() error {
	return fmt.Errorf("%s ended: %v; end of the log:\n%s", filepath.Base(p.log), p.err, p.logTail())
}

// logTail returns the end of the log.
func (p *Process) logTail() []byte {
	const maxBytes = 4 << 10
	log, err := os.ReadFile(p.log)
	if err != nil {
		return []byte(err.Error())
	}
	return log[max(0, len(log)-maxBytes):]
}
