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

// A checkpoint is a note beside Pebble of how far the store has come. It is written whenever
// something is on disk, before that is acknowledged, but made sure to be on disk itself only when
// there is nothing else to do, and at the end: so it survives the process, and says at least how
// far the store had come when it last was idle if the power is lost. If there is less than it says
// when the store is opened, files are damaged in a way that Pebble can't tell from a crash.
const checkpointFile = "CHECKPOINT"

// openCheckpoint opens the note, or makes it.
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

// checkpointText always has the same length, so that it can be written over another.
func checkpointText(revision int64) string { return fmt.Sprintf("%019d\n", revision) }

// writeCheckpoint notes how far the store has come.
func (s *Store) writeCheckpoint(revision int64) error {
	_, err := s.checkpoint.WriteAt([]byte(checkpointText(revision)), 0)
	return err
}

// checkCheckpoint compares what is there with what was noted, and that history has no gap at
// its start.
func (s *Store) checkCheckpoint(first, last, compacted storage.Revision) error {
	if first > 0 && first != compacted+1 {
		return fmt.Errorf("%s: expected history from revision %d on, found it from %d on; a part is lost, restore the folder from a backup",
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
		return fmt.Errorf("%s: expected revision %d at least, as %s says, found %d; a part is lost, restore the folder from a backup",
			s.suspects(), noted, checkpointFile, max(last, compacted))
	}
	return nil
}

// suspects names the files of which one is damaged if commits are missing at the end.
func (s *Store) suspects() string {
	files, err := s.options.FileSystem.List(s.options.Folder)
	if err != nil {
		return s.manifest
	}
	newest := ""
	for _, name := range files {
		if strings.HasSuffix(name, ".log") {
			newest = max(newest, name) // they have numbers of the same length
		}
	}
	if newest == "" {
		return s.manifest
	}
	return newest + " or " + s.manifest
}

// manifestIn returns the name of the file in which Pebble notes which files count.
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
