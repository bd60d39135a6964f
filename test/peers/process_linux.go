package peers

import "syscall"

// killWithParent makes the kernel kill the process when this process dies for any reason, so that a killed or timed-out
// test leaves no servers running.
func killWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
