package peers

// StartScheduler starts the real kube-scheduler for the server of the file kubeconfig, with its log in folder. It
// returns [ErrNotBuilt] if the program is not built. The caller must stop the process.
func StartScheduler(folder, kubeconfig string) (*Process, error) {
	scheduler, err := Program(KubeScheduler)
	if err != nil {
		return nil, err
	}
	return startProcess(folder, scheduler, []string{
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		"--leader-elect=false",
		"--secure-port=0", // the scheduler serves no requests
	})
}

// Stop stops the process and waits until it has exited.
func (p *Process) Stop() { p.stop() }

// LogTail returns the last 4 KiB of the log.
func (p *Process) LogTail() string { return string(p.logTail()) }
