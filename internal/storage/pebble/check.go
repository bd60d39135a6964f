package pebble

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"

	"github.com/cadastre/cadastre/internal/storage"
)

// CheckReport is the result of Check.
type CheckReport struct {
	// Revision is the revision of the last commit; history is compacted up to the revision Compacted.
	Revision, Compacted storage.Revision
	// Items is the number of items, Versions the number of their versions and deletions in the history, Commits the number of
	// commits in the history, and Tables the number of Pebble's table files.
	Items, Versions, Commits, Tables int
	// Problems describes up to maxProblems problems; More is the number of further problems.
	Problems []string
	More     int
}

const maxProblems = 1000

func (r *CheckReport) problem(format string, args ...any) {
	if len(r.Problems) == maxProblems {
		r.More++
		return
	}
	r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
}

// Check reads the whole store in o.Folder, which no other process may use, and changes only its lock file. It verifies
//
//   - the checksums of all blocks of all files, and Pebble's order of keys within and between tables;
//   - that the log lists every version of an item that is newer than the compacted revision, and nothing else, with the previous
//     revision and the size that the version has;
//   - that a version at or before the compacted revision is the current one at that revision;
//   - the value of every item, by calling item, which returns an error if the value cannot be decoded.
//
// It returns an error if the store cannot be opened.
func Check(o Options, item func(storage.Item) error) (report CheckReport, err error) {
	o = o.withDefaults()
	if version, err := readFormat(o); err != nil {
		return report, err
	} else if version == 0 {
		return report, fmt.Errorf("%s: expected a store, found no file FORMAT; name the data directory of a server", o.Folder)
	}
	s := &Store{options: o, done: make(chan struct{})}
	s.fs.FS, s.fs.store = o.FileSystem, s
	s.failure.init()
	if s.lock, err = lockDir(o); err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, s.lock.Close()) }()
	if err = s.checkFiles(); err == nil {
		err = s.openPebble(true)
	}
	if err != nil {
		return report, fmt.Errorf("open the store in %s: %w", o.Folder, err)
	}
	defer func() { err = errors.Join(err, s.db.Close()) }()
	if _, report.Compacted, err = s.readRevisions(); err != nil {
		return report, err
	}
	c := checker{s: s, snapshot: s.db.NewSnapshot(), report: &report, visit: item}
	defer func() { err = errors.Join(err, c.snapshot.Close()) }()
	for _, check := range []func() error{c.tables, c.levels, c.log, c.versions} {
		if err := check(); err != nil {
			report.problem("%v", readError(err))
		}
	}
	return report, nil
}

// checker verifies an open store. logged is the number of item versions that the log lists, and unlogged that of the versions
// that it should list.
type checker struct {
	s                *Store
	snapshot         *pebble.Snapshot
	report           *CheckReport
	visit            func(storage.Item) error
	logged, unlogged int
}

// tables verifies the checksums of all blocks in Pebble's table files.
func (c *checker) tables() error {
	levels, err := c.s.db.SSTables()
	if err != nil {
		return err
	}
	for _, level := range levels {
		for _, table := range level {
			name := fmt.Sprintf("%s.sst", table.BackingSSTNum)
			c.report.Tables++
			if err := c.table(name); err != nil {
				c.report.problem("%s is damaged: %v", name, err)
			}
		}
	}
	return nil
}

func (c *checker) table(name string) (err error) {
	reader, err := openTable(c.s, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	return reader.ValidateBlockChecksums()
}

// openTable opens a table file of s by its name.
func openTable(s *Store, name string) (*sstable.Reader, error) {
	fs := s.options.FileSystem
	file, err := fs.Open(fs.PathJoin(s.options.Folder, name))
	if err != nil {
		return nil, err
	}
	readable, err := sstable.NewSimpleReadable(file)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	options := s.pebbleOptions()
	options.EnsureDefaults()
	reader, err := sstable.NewReader(context.Background(), readable, options.MakeReaderOptions())
	if err != nil {
		return nil, errors.Join(err, readable.Close())
	}
	return reader, nil
}

// levels verifies that the keys of Pebble's tables are in order, within tables and between levels.
func (c *checker) levels() error { return c.s.db.CheckLevels(nil) }

// log verifies that the log has no gaps, and that the item versions which it lists exist.
func (c *checker) log() error {
	last := c.report.Compacted
	err := eachLogEntry(c.snapshot, 0, 1<<62, func(entry logEntry) (more bool, err error) {
		if entry.revision != last+1 {
			c.report.problem("the commits from revision %d to %d are missing in the log", last+1, entry.revision-1)
		}
		last = entry.revision
		c.report.Commits++
		for _, change := range entry.changes {
			if err := c.change(entry, change); err != nil {
				return false, err
			}
		}
		return true, nil
	})
	c.report.Revision = last
	return err
}

// change verifies that the version of an item that a commit wrote exists as the log describes it, and the version that it
// replaced.
func (c *checker) change(entry logEntry, change change) error {
	c.logged++
	value, closer, err := c.snapshot.Get(appendVersion(nil, change.key, entry.revision))
	switch {
	case errors.Is(err, pebble.ErrNotFound):
		c.report.problem("%s: the log lists a change at revision %d, which is missing", change.key, entry.revision)
	case err != nil:
		return err
	default:
		if len(value) != 1+change.size || (value[0] == flagDeleted) != change.deleted {
			c.report.problem("%s: the log lists %d bytes at revision %d (deletion: %t), found %d bytes (deletion: %t)",
				change.key, change.size, entry.revision, change.deleted, len(value)-1, len(value) > 0 && value[0] == flagDeleted)
		}
		if err := closer.Close(); err != nil {
			return err
		}
	}
	if change.previous == 0 {
		return nil
	}
	_, closer, err = c.snapshot.Get(appendVersion(nil, change.key, change.previous))
	if errors.Is(err, pebble.ErrNotFound) {
		c.report.problem("%s: the version at revision %d, which the commit at revision %d replaced, is missing", change.key, change.previous, entry.revision)
		return nil
	}
	if err != nil {
		return err
	}
	return closer.Close()
}

// versions verifies the records of item versions, and calls visit for the current items.
func (c *checker) versions() (err error) {
	iter, err := c.snapshot.NewIter(&pebble.IterOptions{LowerBound: []byte{versionPrefix}, UpperBound: []byte{versionPrefix + 1}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, iter.Close()) }()
	var item itemVersions
	for valid := iter.First(); valid; valid = iter.Next() {
		key, revision, ok := decodeVersion(iter.Key())
		value, err := iter.ValueAndErr()
		switch {
		case err != nil:
			return err
		case !ok || len(value) == 0 || value[0] > flagWritten:
			c.report.problem("the record %q is malformed", iter.Key())
			continue
		case string(key) != item.key:
			item = itemVersions{key: string(key)}
		}
		c.version(&item, revision, value)
	}
	if c.logged != c.unlogged {
		c.report.problem("the log lists %d changes, found %d versions after the compacted revision %d", c.logged, c.unlogged, c.report.Compacted)
	}
	return iter.Error()
}

// itemVersions is the state of the scan of the versions of one item, from the newest to the oldest.
type itemVersions struct {
	key   string
	count int
	// compacted reports whether a version at or before the compacted revision was found.
	compacted bool
}

// version verifies one version of an item.
func (c *checker) version(item *itemVersions, revision storage.Revision, value []byte) {
	c.report.Versions++
	item.count++
	switch {
	case revision > c.report.Revision:
		c.report.problem("%s: found revision %d, the last commit has revision %d", item.key, revision, c.report.Revision)
	case revision > c.report.Compacted:
		c.unlogged++
	case item.compacted:
		c.report.problem("%s: revision %d is obsolete at the compacted revision %d", item.key, revision, c.report.Compacted)
	default:
		item.compacted = true
	}
	if item.count > 1 || value[0] == flagDeleted {
		return
	}
	c.report.Items++
	if err := c.visit(storage.Item{Key: item.key, Value: slices.Clone(value[1:]), Revision: revision}); err != nil {
		c.report.problem("%s: %v", item.key, err)
	}
}

// decodeVersion is splitVersion for a record key that may be malformed.
func decodeVersion(record []byte) (key []byte, revision storage.Revision, ok bool) {
	if len(record) < 1+1+1+8 || record[0] != versionPrefix || record[len(record)-9] != 0 {
		return nil, 0, false
	}
	key, revision = splitVersion(record)
	return key, revision, revision > 0
}
