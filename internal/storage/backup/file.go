package backup

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// WriteFile creates the file path, readable only by its owner, with the output of write. It writes, syncs and verifies a temporary
// file, and renames it to path: path is a valid backup or does not exist. WriteFile returns an error if path exists.
func WriteFile(path string, write func(w io.Writer) error) (Summary, error) {
	if _, err := os.Lstat(path); err == nil {
		return Summary{}, fmt.Errorf("%s: expected no file, found one; choose another name or remove it", path)
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return Summary{}, err
	}
	summary, err := writeAndVerify(temporary, write)
	if err = errors.Join(err, temporary.Close()); err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return Summary{}, errors.Join(err, os.Remove(temporary.Name()))
	}
	return summary, syncFolder(filepath.Dir(path))
}

func writeAndVerify(file *os.File, write func(w io.Writer) error) (Summary, error) {
	if err := write(file); err != nil {
		return Summary{}, err
	}
	if err := file.Sync(); err != nil {
		return Summary{}, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return Summary{}, err
	}
	return Verify(file, nil)
}

// ReadFile reads a whole backup from a file, as Verify does.
func ReadFile(path string, visit Visit) (summary Summary, err error) {
	file, err := os.Open(path)
	if err != nil {
		return Summary{}, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if summary, err = Verify(file, visit); err != nil {
		return Summary{}, fmt.Errorf("%s: %w", path, err)
	}
	return summary, nil
}

func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
