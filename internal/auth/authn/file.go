package authn

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// fileMode and dirMode restrict keys and certificates to the user that runs the server.
const (
	fileMode = 0o600
	dirMode  = 0o700
)

// writeFile replaces a file atomically and durably: after a crash, the file has either the old or the new content.
func writeFile(name string, content []byte) error {
	folder := filepath.Dir(name)
	temporary, err := os.CreateTemp(folder, "."+filepath.Base(name)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name()) // has no effect after the rename
	err = errors.Join(writeAndSync(temporary, content), temporary.Close())
	if err != nil {
		return err
	}
	if err := os.Rename(temporary.Name(), name); err != nil {
		return err
	}
	return syncDir(folder)
}

func writeAndSync(file *os.File, content []byte) error {
	if err := file.Chmod(fileMode); err != nil {
		return err
	}
	if _, err := file.Write(content); err != nil {
		return err
	}
	return file.Sync()
}

// syncDir syncs a directory, so that a rename in it survives a crash.
func syncDir(name string) error {
	folder, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// readFile returns the content of a file; nil if the file does not exist. The content of an empty file is not nil.
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
