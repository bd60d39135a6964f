package pebble

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cadastre/cadastre/internal/storage"
)

// Salvaged is the readable part of a damaged store.
type Salvaged struct {
	// Revision is the greatest revision that was found. Items are the latest readable versions of all items, sorted by key.
	Revision storage.Revision
	Items    []storage.Item
	// Losses describes the unreadable parts of the store, and the items that are missing or may be outdated.
	Losses []string
}

// Salvage reads all readable records of the damaged store in o.Folder, which no other process may use, without changing it. It reads
// Pebble's tables and write-ahead logs block by block instead of opening Pebble, which requires that all files are intact. Every
// version of an item has its own record; Salvage returns the version with the greatest revision.
func Salvage(o Options) (*Salvaged, error) {
	o = o.withDefaults()
	files, err := o.FileSystem.List(o.Folder)
	if err != nil {
		return nil, err
	}
	lock, err := pebble.LockDirectory(o.Folder, o.FileSystem)
	if err != nil {
		return nil, fmt.Errorf("the store in %s is in use by another process; stop it: %w", o.Folder, err)
	}
	defer lock.Close()
	slices.Sort(files)
	s := salvager{s: &Store{options: o, lock: lock}, records: map[string]record{}}
	s.s.fs.FS, s.s.fs.store = o.FileSystem, s.s
	s.s.failure.init()
	live := s.liveFiles(files)
	for _, name := range live {
		switch {
		case !slices.Contains(files, name):
			s.lose("%s is missing", name)
		case path.Ext(name) == ".sst":
			s.table(name)
		default:
			s.writeAheadLog(name)
		}
	}
	return s.merge(), nil
}

// record is the newest readable value of a record key. Pebble's sequence numbers order the values of a key.
type record struct {
	sequence uint64
	deleted  bool
	value    []byte
}

// salvager collects the readable records of a store.
type salvager struct {
	s       *Store
	records map[string]record
	losses  []string
}

func (s *salvager) lose(format string, args ...any) {
	s.losses = append(s.losses, fmt.Sprintf(format, args...))
}

// add adds a value of a record, unless a newer value is known. It copies key and value.
func (s *salvager) add(key []byte, sequence uint64, kind pebble.InternalKeyKind, value []byte) {
	r := record{sequence: sequence}
	switch kind {
	case pebble.InternalKeyKindSet, pebble.InternalKeyKindSetWithDelete:
		r.value = slices.Clone(value)
	case pebble.InternalKeyKindDelete, pebble.InternalKeyKindSingleDelete, pebble.InternalKeyKindDeleteSized:
		r.deleted = true
	default:
		return // range deletions concern only log records, which are not merged
	}
	if old, ok := s.records[string(key)]; !ok || old.sequence < sequence {
		s.records[string(key)] = r
	}
}

// liveFiles returns the names of the tables and write-ahead logs that belong to the current state according to Pebble's manifest.
// Other files are obsolete, and could contain deleted items. If the manifest cannot be read, liveFiles returns all files.
func (s *salvager) liveFiles(files []string) []string {
	opened := &logObserver{FS: s.s.options.FileSystem}
	tables, err := s.liveTables(opened)
	if err != nil && opened.first != "" { // a log is damaged; the manifest is not
		opened.hidden = true
		tables, err = s.liveTables(opened)
	}
	if err != nil {
		s.lose("the manifest cannot be read, all tables and logs are used: deleted items may reappear: %v", err)
	}
	for _, name := range files {
		isTable, isLog := path.Ext(name) == ".sst", path.Ext(name) == ".log"
		if isTable && err != nil || isLog && (err != nil || opened.first != "" && name >= opened.first) {
			tables = append(tables, name)
		}
	}
	return tables
}

// liveTables returns the names of the tables in the manifest.
func (s *salvager) liveTables(fs vfs.FS) (names []string, err error) {
	store := &Store{options: s.s.options, lock: s.s.lock}
	store.options.FileSystem = fs
	store.fs.FS, store.fs.store = fs, store
	store.failure.init()
	if err := store.openPebble(true); err != nil {
		return nil, err
	}
	defer store.db.Close()
	levels, err := store.db.SSTables()
	for _, level := range levels {
		for _, table := range level {
			names = append(names, fmt.Sprintf("%s.sst", table.BackingSSTNum))
		}
	}
	return names, err
}

// logObserver is a file system that records the first write-ahead log that Pebble reads. That log and all later logs
// are live. If hidden is true, folders seem to contain no write-ahead logs.
type logObserver struct {
	vfs.FS
	first  string
	hidden bool
}

// Open implements vfs.FS.
func (f *logObserver) Open(name string, options ...vfs.OpenOption) (vfs.File, error) {
	if base := path.Base(name); path.Ext(base) == ".log" && (f.first == "" || base < f.first) {
		f.first = base
	}
	return f.FS.Open(name, options...)
}

// List implements vfs.FS.
func (f *logObserver) List(folder string) ([]string, error) {
	names, err := f.FS.List(folder)
	if f.hidden {
		names = slices.DeleteFunc(names, func(name string) bool { return path.Ext(name) == ".log" })
	}
	return names, err
}

// merge returns the latest version of each item, and the losses: versions that the log lists and no record has.
func (s *salvager) merge() *Salvaged {
	result := &Salvaged{Losses: s.losses}
	latest := map[string]storage.Revision{}
	for key, r := range s.records {
		item, revision, ok := decodeVersion([]byte(key))
		if !ok || r.deleted {
			continue
		}
		result.Revision = max(result.Revision, revision)
		latest[string(item)] = max(latest[string(item)], revision)
	}
	for key, r := range s.records {
		switch {
		case r.deleted:
		case key == string(compactedRecord):
			if compacted, err := strconv.ParseInt(string(r.value), 10, 64); err == nil {
				result.Revision = max(result.Revision, storage.Revision(compacted))
			}
		case key[0] == logPrefix:
			s.checkLogged(result, key, r, latest)
		}
	}
	for key, revision := range latest {
		value := s.records[string(appendVersion(nil, key, revision))].value
		switch {
		case len(value) == 0:
			result.Losses = append(result.Losses, fmt.Sprintf("%s: the record of revision %d is empty", key, revision))
		case value[0] == flagWritten:
			result.Items = append(result.Items, storage.Item{Key: key, Value: value[1:], Revision: revision})
		}
	}
	slices.SortFunc(result.Items, func(a, b storage.Item) int { return strings.Compare(a.Key, b.Key) })
	slices.Sort(result.Losses)
	return result
}

// checkLogged adds a loss for each change in the log record r that is newer than the latest readable version of its item.
func (s *salvager) checkLogged(result *Salvaged, key string, r record, latest map[string]storage.Revision) {
	entry, err := readLogEntry([]byte(key), r.value)
	if err != nil {
		result.Losses = append(result.Losses, fmt.Sprintf("the log record %q cannot be read: %v", key, err))
		return
	}
	result.Revision = max(result.Revision, entry.revision)
	for _, c := range entry.changes {
		if have := latest[c.key]; have < entry.revision {
			what := "its change"
			if c.deleted {
				what = "its deletion"
			}
			result.Losses = append(result.Losses, fmt.Sprintf("%s: %s at revision %d is lost, the latest readable revision is %d", c.key, what, entry.revision, have))
		}
	}
}

// keyRange describes the items between two record keys, which may be nil.
func keyRange(after, before []byte) string {
	name := func(record []byte) string {
		if key, _, ok := decodeVersion(record); ok {
			return string(key)
		}
		if len(record) > 0 && record[0] == logPrefix {
			return "the log"
		}
		return ""
	}
	from, to := name(after), name(before)
	switch {
	case bytes.Equal(after, before) || from == "" && to == "":
		return "unknown items"
	case from == "":
		return "items up to " + to
	case to == "":
		return "items from " + from + " on"
	}
	return "items from " + from + " to " + to
}
