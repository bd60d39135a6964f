//go:build !linux

package etcdtest

import "syscall"

// killWithParent returns nil: only Linux can kill etcd when the test process dies.
func killWithParent() *syscall.SysProcAttr { return nil }
