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

// gracePeriod is the time that a program has to exit after SIGTERM, before SIGKILL is sent.
const gracePeriod = 10 * time.Second

// Process is a running program with its log.
type Process struct {
	PID int

	log   string        // path of the log file
	ended chan struct{} // a channel that is closed when the process has exited
	err   error         // the result of Wait, valid after ended is closed
}

// startProcess starts program with folder as its working directory. Its stdout and stderr are written to a log file in
// folder.
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
		// Lock the thread until the child has exited, because the kernel sends Pdeathsig to the child when the thread
		// that started the child exits.
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

// stop sends SIGTERM and, if the process has not exited within gracePeriod, SIGKILL. It waits until the process has
// exited, but at most gracePeriod after SIGKILL.
func (p *Process) stop() {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		select {
		case <-p.ended:
			return
		default:
			_ = syscall.Kill(p.PID, signal) // the process may have exited already
		}
		ctx, cancel := context.WithTimeout(context.Background(), gracePeriod)
		select {
		case <-p.ended:
		case <-ctx.Done():
		}
		cancel()
	}
}

// failure returns the error for a process that exited unexpectedly, with the end of its log.
func (p *Process) failure() error {
	return fmt.Errorf("process with log %s exited unexpectedly: %v; end of the log:\n%s", filepath.Base(p.log), p.err, p.logTail())
}

// logTail returns the last 4 KiB of the log.
func (p *Process) logTail() []byte {
	const maxBytes = 4 << 10
	log, err := os.ReadFile(p.log)
	if err != nil {
		return []byte(err.Error())
	}
	return log[max(0, len(log)-maxBytes):]
}
