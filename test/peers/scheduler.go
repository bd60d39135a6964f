package peers

// StartScheduler starts the real kube-scheduler for the server that a kubeconfig names, with its log in a folder. The error is
// [ErrNotBuilt] if the program is missing. The caller must stop it.
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
		"--secure-port=0", // it serves nothing
	})
}

// Stop ends the process and waits until it has ended.
func (p *Process) Stop() { p.stop() }

// LogTail returns the end of the log.
func (p *Process) LogTail() string { return string(p.logTail()) }
