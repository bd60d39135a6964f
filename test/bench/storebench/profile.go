package storebench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
)

// profileVariable is the environment variable with the folder for CPU profiles. If it is empty, child processes write
// none.
const profileVariable = "CADASTRE_STOREBENCH_PROFILES"

// WriteProfiles makes all child processes that are started later write CPU profiles to folder.
func WriteProfiles(folder string) error {
	return errors.Join(os.MkdirAll(folder, 0o700), os.Setenv(profileVariable, folder))
}

// startProfile starts a CPU profile if profileVariable is set. end stops the profile and closes its file.
func startProfile(role string) (end func() error, err error) {
	folder := os.Getenv(profileVariable)
	if folder == "" {
		return func() error { return nil }, nil
	}
	file, err := os.Create(filepath.Join(folder, fmt.Sprintf("%s-%d.pprof", role, os.Getpid())))
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return file.Close()
	}, nil
}
