package managedfields

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/crd"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// The storage key prefixes of the two types of persisted records, which the API does not serve. The prefixes and the
// JSON of the records are part of the on-disk format and must not change.
const (
	generationRecords = "cadastre/formerdefinitions"
	pendingRecords    = "cadastre/ownersinarrears"
)

// objectsPerRecord is the maximum number of objects in one pending record, which keeps records small.
const objectsPerRecord = 500

// generation is a previous generation of a CRD. Only its schemas are used: it has no converter.
type generation struct {
	*crd.Resource
	record *watchcache.Object
}

// history is the persisted migration state of one CRD.
//
// Invariants, where G is the generation of the current CRD and M is pending.generation:
//
//	previous[i].Generation < previous[i+1].Generation < G
//	0 ≤ M ≤ G
//	previous[0].Generation ≤ e.Generation < M for every pending entry e
//
// Every entry that is not pending conforms to the schema of generation M or of a later generation; if M is 0, to the schema of
// previous[0] or of a later generation.
type history struct {
	previous []generation
	pending  pending
}

// before returns the history without generation and later generations, which are stored if the CRD has changed again.
func (h history) before(generation int64) history {
	if n := h.indexFrom(generation); n < len(h.previous) {
		h.previous = h.previous[:n]
	}
	return h
}

// since returns the stored previous generations that are not before generation, in ascending order.
func (h history) since(generation int64) []generation { return h.previous[h.indexFrom(generation):] }

func (h history) indexFrom(number int64) int {
	n := slices.IndexFunc(h.previous, func(g generation) bool { return g.Generation >= number })
	if n < 0 {
		return len(h.previous)
	}
	return n
}

// isMigrated reports whether all entries that are not pending conform to the current schema. This is the case if every previous
// generation is older than M.
func (h history) isMigrated() bool {
	return len(h.previous) == 0 || h.previous[len(h.previous)-1].Generation < h.pending.generation
}

// isEmpty reports whether no state is persisted.
func (h history) isEmpty() bool { return len(h.previous) == 0 && len(h.pending.records) == 0 }

// generationOf returns the generation that an entry of an object conforms to.
func (h history) generationOf(key watchcache.Key, uid string, entry apply.Entry) int64 {
	if g, ok := h.pending.generationOf(key, uid, entry); ok {
		return g
	}
	return h.pending.generation
}

// pending lists the entries that could not be migrated because the conversion webhook was unavailable. Clients can write the
// objects before the retry, so an entry is also identified by its time: an entry with another time, and every entry that is not
// listed, was written with the schema of generation M or of a later generation.
//
// The list is stored as several records. The name of the first record is the UID of the CRD. The first record contains
// the number of additional records and is committed last, so a crash leaves either the old list or the new list.
type pending struct {
	generation int64 // M; 0 if nothing was recorded yet
	objects    map[watchcache.Key]pendingObject
	records    []*watchcache.Object // all stored records, including records of an interrupted update
}

// pendingObject is an object with pending entries. The UID distinguishes the object from a later object with the same name.
type pendingObject struct {
	Namespace string         `json:"namespace,omitempty"`
	Name      string         `json:"name"`
	UID       string         `json:"uid"`
	Entries   []pendingEntry `json:"entries"`
}

// pendingEntry identifies a managed fields entry of an object that has not been migrated yet.
type pendingEntry struct {
	Manager     string          `json:"manager"`
	Operation   apply.Operation `json:"operation"`
	APIVersion  string          `json:"apiVersion"`
	Subresource string          `json:"subresource,omitempty"`
	Time        time.Time       `json:"time"`
	// Generation is the generation of the CRD to whose schema the entry conforms.
	Generation int64 `json:"generation"`
}

func newPendingEntry(e apply.Entry, generation int64) pendingEntry {
	return pendingEntry{e.Manager, e.Operation, e.APIVersion, e.Subresource, e.Time.UTC(), generation}
}

// generationOf returns the generation that a pending entry conforms to; ok is false if the entry is not pending.
func (p pending) generationOf(key watchcache.Key, uid string, entry apply.Entry) (generation int64, ok bool) {
	object := p.objects[key]
	if object.UID != uid {
		return 0, false
	}
	for _, e := range object.Entries {
		if e == newPendingEntry(entry, e.Generation) {
			return e.Generation, true
		}
	}
	return 0, false
}

// oldest returns the oldest generation to which an entry conforms. Older stored generations are not needed.
func (p pending) oldest() int64 {
	oldest := p.generation
	for _, object := range p.objects {
		for _, e := range object.Entries {
			oldest = min(oldest, e.Generation)
		}
	}
	return oldest
}

// RecordPrevious returns the write that stores the CRD live as a previous generation, in the commit that replaces live with
// obj. It returns nil if no managed fields entry can depend on the schemas of live: either live serves no version and the
// last served generation is stored already, or obj serves a version and has the schema of every version of live.
func RecordPrevious(obj, live document.Value) []storage.Write {
	if obj.IsAbsent() || live.IsAbsent() {
		return nil
	}
	replaced, next := crd.Parse(live), crd.Parse(obj)
	switch {
	case len(replaced.ServedVersions()) == 0:
		return nil
	case len(next.ServedVersions()) > 0 && !changesSchemas(replaced, next):
		return nil
	}
	key := watchcache.Key{Kind: generationRecords, Name: fmt.Sprintf("%s.%d", replaced.UID, replaced.Generation)}
	record := document.NewMap(
		document.Field{Name: "definition", Value: live},
		document.Field{Name: "metadata", Value: document.NewMap(document.Field{Name: "name", Value: document.NewString(key.Name)})},
	)
	return []storage.Write{{Key: key.String(), Value: []byte(record.JSON())}}
}

// changesSchemas reports whether the CRD next lacks a version of the CRD replaced, or has another schema for such a
// version.
func changesSchemas(replaced, next *crd.Definition) bool {
	for i := range replaced.Versions {
		v := next.Version(replaced.Versions[i].Name)
		if v == nil || !document.Equal(replaced.Versions[i].Schema, v.Schema) {
			return true
		}
	}
	return false
}

// histories reads and writes the persisted records.
type histories struct {
	cache *watchcache.Cache
	log   *slog.Logger
}

// read returns the history of a CRD.
func (s histories) read(ctx context.Context, d *crd.Definition) (history, error) {
	if d.Generation <= 1 {
		return history{}, nil // the CRD was never updated
	}
	all, err := s.readAll(ctx, d.UID)
	return all[d.UID].before(d.Generation), err
}

// readAll returns the histories of the CRD with the given UID, or of all CRDs if uid is "". The keys of the
// result are UIDs. It logs and skips records that cannot be parsed.
func (s histories) readAll(ctx context.Context, uid string) (map[string]history, error) {
	records, err := s.list(ctx, generationRecords, uid)
	if err != nil {
		return nil, err
	}
	all := map[string]history{}
	for _, record := range records {
		d, err := crd.ParseStored(record, "definition")
		if err != nil {
			s.log.Error("skipping unreadable record of a previous CustomResourceDefinition generation; managedFields may lose fields", "key", record.Key(), "error", err)
			continue
		}
		h := all[d.UID]
		h.previous = append(h.previous, generation{crd.NewResource(d, nil, nil), record})
		all[d.UID] = h
	}
	for _, h := range all {
		slices.SortFunc(h.previous, func(a, b generation) int { return cmp.Compare(a.Generation, b.Generation) })
	}
	return all, s.readPending(ctx, uid, all)
}

// list returns the records with the key prefix kind of the CRD with the given UID, or of all CRDs if uid is "".
func (s histories) list(ctx context.Context, kind, uid string) ([]*watchcache.Object, error) {
	selection := watchcache.Selection{Kind: kind}
	if uid != "" {
		selection.Match = func(record *watchcache.Object) bool { return definitionUID(record) == uid }
	}
	list, err := s.cache.List(ctx, watchcache.Query{Selection: selection, Freshness: watchcache.Latest})
	if err != nil {
		return nil, err
	}
	return list.Objects, nil
}

// definitionUID returns the UID of the CRD that a record belongs to.
func definitionUID(record *watchcache.Object) (uid string) {
	uid, _, _ = strings.Cut(record.Name(), ".")
	return uid
}

// readPending reads the pending entries of the CRD with the given UID, or of all CRDs if uid is "", and adds them
// to the histories in all.
func (s histories) readPending(ctx context.Context, uid string, all map[string]history) error {
	list, err := s.list(ctx, pendingRecords, uid)
	if err != nil {
		return err
	}
	records := map[string][]*watchcache.Object{}
	for _, record := range list {
		uid := definitionUID(record)
		records[uid] = append(records[uid], record)
	}
	for uid, of := range records {
		h := all[uid]
		if h.pending, err = parsePending(uid, of); err != nil {
			s.log.Error("skipping unreadable record of pending managedFields entries; they may lose fields", "uid", uid, "error", err)
		}
		all[uid] = h
	}
	return nil
}

// pendingRecord is the JSON of one of the records in which pending is stored.
type pendingRecord struct {
	Generation int64 `json:"generation"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Objects []pendingObject `json:"objects"`
	Others  int             `json:"others"` // number of additional records
	Serial  int64           `json:"serial"` // part of the names of the additional records; differs between updates
}

// recordName returns the name of record i of an update. The name of the first record, record 0, is the UID.
func recordName(uid string, serial int64, i int) string {
	if i == 0 {
		return uid
	}
	return fmt.Sprintf("%s.%d.%d", uid, serial, i)
}

// parsePending returns the pending entries in the records of one CRD. If there is no first record, no entry is pending.
func parsePending(uid string, records []*watchcache.Object) (pending, error) {
	p := pending{records: records}
	first, err := findRecord(uid, records)
	if err != nil || first == nil {
		return p, err
	}
	p.generation, p.objects = first.Generation, map[watchcache.Key]pendingObject{}
	for i := range first.Others + 1 {
		record, err := findRecord(recordName(uid, first.Serial, i), records)
		if err != nil {
			return p, err
		}
		if record == nil {
			return p, fmt.Errorf("expected %d records, received %d", first.Others+1, i)
		}
		for _, object := range record.Objects {
			p.objects[watchcache.Key{Namespace: object.Namespace, Name: object.Name}] = object
		}
	}
	return p, nil
}

// findRecord returns the record with the given name, nil if there is none.
func findRecord(name string, records []*watchcache.Object) (*pendingRecord, error) {
	i := slices.IndexFunc(records, func(o *watchcache.Object) bool { return o.Name() == name })
	if i < 0 {
		return nil, nil
	}
	record := &pendingRecord{}
	if err := json.Unmarshal([]byte(records[i].Text()), record); err != nil {
		return nil, fmt.Errorf("%s: %w", records[i].Key(), err)
	}
	return record, nil
}

// update replaces the pending entries of the history h with next, and deletes the previous generations that no entry depends on
// any more. It commits the additional records of next first, and all other changes in one commit. It returns a
// [*storage.ConflictError] if another server has updated the history since h was read.
func (s histories) update(ctx context.Context, uid string, next pending, h history) error {
	revision, err := s.cache.Revision(ctx)
	if err != nil {
		return err
	}
	commit, additional := next.writes(uid, int64(revision))
	for _, write := range additional {
		if _, _, err := s.cache.Commit(ctx, write); err != nil {
			return err
		}
	}
	for _, record := range h.pending.records {
		if len(commit) > 0 && record.Key() == commit[0].Key {
			commit[0].Expected = record.Revision()
			continue
		}
		commit = append(commit, storage.Write{Key: record.Key(), Expected: record.Revision()})
	}
	for _, g := range h.previous {
		if len(next.objects) == 0 || g.Generation < next.oldest() {
			commit = append(commit, storage.Write{Key: g.record.Key(), Expected: g.record.Revision()})
		}
	}
	if len(commit) == 0 {
		return nil
	}
	_, _, err = s.cache.Commit(ctx, commit...)
	return err
}

// writes returns the writes that store the pending entries: first contains the write of the first record, and additional the
// writes of all other records. Both are empty if no entry is pending.
func (p pending) writes(uid string, serial int64) (first, additional []storage.Write) {
	chunks := slices.Collect(slices.Chunk(slices.Collect(maps.Values(p.objects)), objectsPerRecord))
	for i, objects := range chunks {
		record := pendingRecord{Generation: p.generation, Objects: objects, Others: len(chunks) - 1, Serial: serial}
		record.Metadata.Name = recordName(uid, serial, i)
		text, err := json.Marshal(record)
		if err != nil {
			panic(err) // cannot happen: all fields are marshallable
		}
		write := storage.Write{Key: watchcache.Key{Kind: pendingRecords, Name: record.Metadata.Name}.String(), Value: text}
		if i == 0 {
			first = append(first, write)
		} else {
			additional = append(additional, write)
		}
	}
	return first, additional
}

// delete deletes the history of a CRD that no longer exists. It logs failures; records that remain are deleted at the next
// start of the server.
func (s histories) delete(ctx context.Context, h history) {
	records := slices.Clone(h.pending.records)
	for _, g := range h.previous {
		records = append(records, g.record)
	}
	for _, record := range records {
		_, _, err := s.cache.Commit(ctx, storage.Write{Key: record.Key(), Expected: record.Revision()})
		if err != nil && !isConflict(err) && ctx.Err() == nil {
			s.log.Error("cannot delete a record of a deleted CustomResourceDefinition", "key", record.Key(), "error", err)
		}
	}
}

// isConflict reports whether a commit failed because the object has changed, or because the watch cache is closed. Callers do not
// log these errors.
func isConflict(err error) bool {
	var conflict *storage.ConflictError
	return errors.As(err, &conflict) || errors.Is(err, watchcache.ErrClosed)
}
