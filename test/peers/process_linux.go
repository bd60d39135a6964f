package peers

import "syscall"

// endsWithUs makes the kernel kill the process when ours is gone, however that happened: a test that
// times out or is killed leaves no servers behind.
func endsWithUs() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
