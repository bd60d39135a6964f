package authn

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Keys and certificates are for the eyes of who runs the server.
const (
	fileMode   = 0o600
	folderMode = 0o700
)

// writeFile writes a file whole or not at all, also when the machine stops: whoever reads it finds
// the old content or the new one.
func writeFile(name string, content []byte) error {
	folder := filepath.Dir(name)
	temporary, err := os.CreateTemp(folder, "."+filepath.Base(name)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name()) // fails when all went well: it has another name then
	err = errors.Join(fill(temporary, content), temporary.Close())
	if err != nil {
		return err
	}
	if err := os.Rename(temporary.Name(), name); err != nil {
		return err
	}
	return syncFolder(folder)
}

func fill(file *os.File, content []byte) error {
	if err := file.Chmod(fileMode); err != nil {
		return err
	}
	if _, err := file.Write(content); err != nil {
		return err
	}
	return file.Sync()
}

// syncFolder makes sure that a new name is still there when the machine stops.
func syncFolder(name string) error {
	folder, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// readFile returns nil if there is no such file.
func readFile(name string) ([]byte, error) {
	content, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if content == nil && err == nil {
		content = []byte{}
	}
	return content, err
}
