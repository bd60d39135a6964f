package main

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// namespaceVariable is set in the environment of the process in a namespace.
const namespaceVariable = "CADASTRE_SOAK_NAMESPACE"

// diskSize is the size of the file system of the data directory.
const diskSize = 4 << 30

// enterNamespace runs this program again in a namespace of its own, in which it may mount a file system, and returns its exit code.
// An error means that the namespace is not permitted.
func enterNamespace() (code int, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	probe := exec.Command("true")
	probe.SysProcAttr = namespaceAttributes()
	if err := probe.Run(); err != nil {
		return 0, err
	}
	again := exec.Command(self, os.Args[1:]...)
	again.SysProcAttr = namespaceAttributes()
	again.Env = append(os.Environ(), namespaceVariable+"=1")
	again.Stdin, again.Stdout, again.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = again.Run()
	if again.ProcessState == nil {
		return 0, err
	}
	return again.ProcessState.ExitCode(), nil
}

// namespaceAttributes give a process its own user and mount namespace, in which it is root.
func namespaceAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
}

// endWithParent makes a process end when this one does.
func endWithParent(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// limitedDisk is a file system whose size changes.
type limitedDisk struct{ folder string }

// mountDisk mounts a file system of diskSize in memory.
func mountDisk(folder string) (*limitedDisk, error) {
	if os.Getenv(namespaceVariable) == "" {
		return nil, fmt.Errorf("not in a namespace of its own")
	}
	d := &limitedDisk{folder}
	return d, syscall.Mount("soak", folder, "tmpfs", 0, d.size(diskSize))
}

func (d *limitedDisk) size(bytes int64) string { return fmt.Sprintf("size=%d", bytes) }

// fill shrinks the file system so that about left bytes are free. The server may write meanwhile, so fill repeats a size that has become
// too small.
func (d *limitedDisk) fill(left int64) (err error) {
	for range 100 {
		var usage syscall.Statfs_t
		if err := syscall.Statfs(d.folder, &usage); err != nil {
			return err
		}
		used := int64(usage.Blocks-usage.Bfree) * usage.Bsize
		if err = d.resize(used + left); err == nil {
			return nil
		}
	}
	return err
}

// free gives the file system its full size again.
func (d *limitedDisk) free() error { return d.resize(diskSize) }

func (d *limitedDisk) resize(bytes int64) error {
	return syscall.Mount("", d.folder, "", syscall.MS_REMOUNT, d.size(bytes))
}

// unmount detaches the file system.
func (d *limitedDisk) unmount() error { return syscall.Unmount(d.folder, syscall.MNT_DETACH) }
