package etcdtest

import "syscall"

// killWithParent makes the kernel kill etcd when the test process dies.
func killWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
