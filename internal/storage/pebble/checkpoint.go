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

// checkpointFile has the last revision that was synced, outside of Pebble. It is written before a group is acknowledged, and
// synced only when the store is idle and when it is closed: after a crash of the process it is exact, after a power loss it has at
// least the revision at which the store was idle last. If Pebble has fewer commits when the store is opened, its files are
// corrupt in a way that Pebble cannot distinguish from a crash.
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

// checkpointText returns the contents of the checkpoint file. They always have the same length, so that they can be overwritten.
func checkpointText(revision int64) string { return fmt.Sprintf("%019d\n", revision) }

// writeCheckpoint overwrites the checkpoint. It does not sync it.
func (s *Store) writeCheckpoint(revision int64) error {
	_, err := s.checkpoint.WriteAt([]byte(checkpointText(revision)), 0)
	return err
}

// checkCheckpoint compares the commits in Pebble with the checkpoint, and checks that history starts after the compacted revision.
func (s *Store) checkCheckpoint(first, last, compacted storage.Revision) error {
	if first > 0 && first != compacted+1 {
		return fmt.Errorf("%s: expected history from revision %d on, found it from %d on; commits are lost, restore the folder from a backup",
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
	noted, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return fmt.Errorf("%s: expected a revision, received %q; the file is damaged, remove it if the rest of the folder is not", name, text)
	}
	if storage.Revision(noted) > max(last, compacted) {
		return fmt.Errorf("%s: expected revision %d at least, as %s says, found %d; commits are lost, restore the folder from a backup",
			s.suspects(), noted, checkpointFile, max(last, compacted))
	}
	return nil
}

// suspects names the files of which one is corrupt if the last commits are missing.
func (s *Store) suspects() string {
	files, err := s.options.FileSystem.List(s.options.Folder)
	if err != nil {
		return s.manifest
	}
	newest := ""
	for _, name := range files {
		if strings.HasSuffix(name, ".log") {
			newest = max(newest, name) // the numbers have the same length
		}
	}
	if newest == "" {
		return s.manifest
	}
	return newest + " or " + s.manifest
}

// manifestIn returns the name of Pebble's current manifest.
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
