package pebble

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cadastre/cadastre/internal/storage"
)

// checkpointFile is the name of the file that stores the last synced revision outside of Pebble's files. The file is written
// before a group of commits is acknowledged, and synced only when the store becomes idle and when it is closed. So its
// revision is exact after a crash of the process; after a power loss it is at least the revision at which the store was last
// idle. If Pebble's last commit has a lower revision when the store is opened, Pebble's files are corrupt in a way that
// Pebble cannot distinguish from a crash.
const checkpointFile = "CHECKPOINT"

// openCheckpoint opens the checkpoint file, or creates it.
func (s *Store) openCheckpoint() (err error) {
	fs, name := s.options.FileSystem, s.options.FileSystem.PathJoin(s.options.Folder, checkpointFile)
	if _, err := fs.Stat(name); errors.Is(err, os.ErrNotExist) {
		if err := writeFile(fs, s.options.Folder, checkpointFile, checkpointText(s.acked.Load())); err != nil {
			return err
		}
	}
	s.checkpoint, err = fs.OpenReadWrite(name, vfs.WriteCategoryUnspecified)
	return err
}

// checkpointText returns the contents of the checkpoint file for revision. The length of the contents does not depend on
// revision, so they can be overwritten in place.
func checkpointText(revision int64) string { return fmt.Sprintf("%019d\n", revision) }

// writeCheckpoint overwrites the contents of the checkpoint file with revision. It does not sync the file.
func (s *Store) writeCheckpoint(revision int64) error {
	_, err := s.checkpoint.WriteAt([]byte(checkpointText(revision)), 0)
	return err
}

// checkCheckpoint returns an error if commits are missing. first and last are the revisions of the first and the last log
// record: first must directly follow compacted, and the greater of last and compacted must not be lower than the revision in
// the checkpoint file.
func (s *Store) checkCheckpoint(first, last, compacted storage.Revision) error {
	if first > 0 && first != compacted+1 {
		return fmt.Errorf("%s: expected the history to start at revision %d, found its start at %d; commits are lost, restore the folder from a backup",
			s.manifest, compacted+1, first)
	}
	fs := s.options.FileSystem
	name := fs.PathJoin(s.options.Folder, checkpointFile)
	text, err := readFile(fs, name)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	checkpoint, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return fmt.Errorf("%s: expected a revision, received %q; the file is damaged, remove it if the rest of the folder is not", name, text)
	}
	if storage.Revision(checkpoint) > max(last, compacted) {
		return fmt.Errorf("%s: expected at least revision %d, which %s contains, found %d; commits are lost, restore the folder from a backup",
			s.suspectFiles(), checkpoint, checkpointFile, max(last, compacted))
	}
	return nil
}

// suspectFiles returns the names of the files that may be corrupt if the last commits are missing: the newest write-ahead log
// and the manifest.
func (s *Store) suspectFiles() string {
	files, err := s.options.FileSystem.List(s.options.Folder)
	if err != nil {
		return s.manifest
	}
	newest := ""
	for _, name := range files {
		if strings.HasSuffix(name, ".log") {
			newest = max(newest, name) // all log names have the same length, so the greatest name is the newest log
		}
	}
	if newest == "" {
		return s.manifest
	}
	return newest + " or " + s.manifest
}

// manifestIn returns the name of Pebble's current manifest file in o.Folder.
func manifestIn(o Options) string {
	files, err := o.FileSystem.List(o.Folder)
	if err != nil {
		return "MANIFEST"
	}
	for _, name := range files {
		if _, current, ok := strings.Cut(name, ".MANIFEST-"); ok {
			return "MANIFEST-" + current
		}
	}
	return "MANIFEST"
}
