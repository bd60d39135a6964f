package storebench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
)

// profileVariable tells children where their profiles go; without it there are none.
const profileVariable = "CADASTRE_STOREBENCH_PROFILES"

// WriteProfiles has every process that is started from now on leave a profile of its CPU time in a folder.
func WriteProfiles(folder string) error {
	return errors.Join(os.MkdirAll(folder, 0o700), os.Setenv(profileVariable, folder))
}

// startProfile returns what ends it.
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
