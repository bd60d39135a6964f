//go:build !linux

package peers

import "syscall"

// killWithParent returns nil: only Linux can kill a process when its parent dies.
func killWithParent() *syscall.SysProcAttr { return nil }
