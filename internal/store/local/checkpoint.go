package local

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/internal/store"
)

// A checkpoint is a note beside Pebble of how far the store has come. It is written when
// there is nothing else to do, and at the end. If there is less than it says when the store is
// opened, files are damaged in a way that Pebble can't tell from a crash.
const checkpointFile = "CHECKPOINT"

// writeCheckpoint notes how far the store has come.
func (s *Store) writeCheckpoint() error {
	revision := s.acked.Load()
	if revision == s.checkpoint {
		return nil
	}
	if err := writeFile(s.options.FileSystem, s.options.Folder, checkpointFile, strconv.FormatInt(revision, 10)+"\n"); err != nil {
		return err
	}
	s.checkpoint = revision
	return nil
}

// checkCheckpoint compares what is there with what was noted, and that history has no gap at
// its start.
func (s *Store) checkCheckpoint(first, last, compacted store.Revision) error {
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
	if store.Revision(noted) > max(last, compacted) {
		return fmt.Errorf("%s: expected revision %d at least, as %s says, found %d; a part is lost, restore the folder from a backup",
			s.manifest, noted, checkpointFile, max(last, compacted))
	}
	s.checkpoint = noted
	return nil
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
