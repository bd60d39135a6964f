//go:build !linux

package peers

import "syscall"

// endsWithUs has nothing to offer here: only Linux can tie the life of a process to that of its parent.
func endsWithUs() *syscall.SysProcAttr { return nil }
