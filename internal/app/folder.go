package app

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"syscall"
)

// maxFolderMode is the maximum mode of data directories: the group may list and read them; other users may not.
const maxFolderMode fs.FileMode = 0o750

// protectFolder removes permissions of other users from a data directory, and logs the change. It returns an error if it
// cannot, for instance because another user owns the directory. A directory that does not exist is created later with mode
// 0700.
func protectFolder(folder string, log *slog.Logger) error {
	info, err := os.Stat(folder)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || err == nil && !info.IsDir() {
		return nil // the store reports a file in the place of a directory
	}
	if err != nil {
		return err
	}
	mode := info.Mode().Perm()
	if mode&^maxFolderMode == 0 {
		return nil
	}
	if err := os.Chmod(folder, mode&maxFolderMode); err != nil {
		return fmt.Errorf("%s: expected mode 0700 or 0750, received %#o, with which other users can read or replace the data; run chmod 0700: %w", folder, mode, err)
	}
	log.Warn("data directory was accessible to other users; its mode has been changed", "folder", folder, "before", fmt.Sprintf("%#o", mode), "now", fmt.Sprintf("%#o", mode&maxFolderMode))
	return nil
}

// protectFolders protects the directories of the data directory that contain data or keys. The data directory itself may be a
// mounted volume of another user; if its mode cannot be changed, a warning is logged.
func (s *Server) protectFolders() error {
	if s.config.Folder == "" {
		return nil
	}
	if err := protectFolder(s.config.Folder, s.config.Log); err != nil {
		s.config.Log.Warn("data directory is accessible to other users", "error", err)
	}
	return errors.Join(protectFolder(s.dir("store"), s.config.Log), protectFolder(s.dir("pki"), s.config.Log))
}
