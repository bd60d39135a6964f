package managedfields

import (
	"context"
	"errors"
	"maps"
	"path"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/api/crd"
	"github.com/cadastre/cadastre/internal/metrics"
	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

const (
	// maxBatchObjects and maxBatchBytes limit the objects of one ConversionReview.
	maxBatchObjects = 100
	maxBatchBytes   = 1 << 20
	// parallelBatches is the number of batches in progress, so that calls of the webhook and commits overlap.
	parallelBatches = 4
	// parallelWrites is the number of objects per batch that are written concurrently, to share a group commit.
	parallelWrites = 32
)

// pass migrates the managed fields entries of a list of objects once. Each pass is used for one call of run.
type pass struct {
	objects  *registry.Registry
	storeKey string // watch cache kind of the objects
	current  *crd.Resource
	history  history
	// conversionTimeout is the maximum total time for conversions, during which writes may be blocked.
	conversionTimeout time.Duration
	// unavailable is the error of the first call for which the webhook was unavailable; nil if there was none. After such an
	// error the webhook is not called again.
	unavailable atomic.Pointer[error]

	mu     sync.Mutex
	chains map[chainKey]*chain
	// pending holds the entries that could not be migrated. lastError is the reason of the last failure.
	pending   map[watchcache.Key]pendingObject
	lastError error
}

// chainKey is the version and generation of the managed fields entries that share a chain.
type chainKey struct {
	version    string
	generation int64
}

func newPass(objects *registry.Registry, m *Migration, conversionTimeout time.Duration) *pass {
	return &pass{
		objects: objects, storeKey: m.Kind.StoreName(), current: m.resource, history: m.history, conversionTimeout: conversionTimeout,
		chains: map[chainKey]*chain{}, pending: map[watchcache.Key]pendingObject{},
	}
}

// run migrates the entries of objects. It adds entries to p.pending if the conversion webhook is unavailable. It returns an error
// only if the context ends; p.pending then also contains the entries that were pending before the pass and were not retried.
func (p *pass) run(ctx context.Context, all []*watchcache.Object) error {
	for _, object := range all {
		if was, ok := p.history.pending.objects[keyOf(object)]; ok {
			p.pending[keyOf(object)] = was
		}
	}
	convertCtx, cancel := context.WithTimeout(ctx, p.conversionTimeout)
	defer cancel()
	var group errgroup.Group
	group.SetLimit(parallelBatches)
	for _, batch := range batches(all) {
		group.Go(func() error { return p.runBatch(ctx, convertCtx, batch) })
	}
	return group.Wait()
}

// batches splits objects so that each batch fits into one ConversionReview.
func batches(all []*watchcache.Object) (out [][]*watchcache.Object) {
	start, size := 0, 0
	for i, object := range all {
		if size += len(object.Text()); i > start && (i-start == maxBatchObjects || size > maxBatchBytes) {
			out = append(out, all[start:i])
			start, size = i, len(object.Text())
		}
	}
	if start < len(all) {
		out = append(out, all[start:])
	}
	return out
}

// runBatch migrates a batch. The context convertCtx applies to calls of the conversion webhook, and ctx to reads and writes of
// objects.
func (p *pass) runBatch(ctx, convertCtx context.Context, batch []*watchcache.Object) error {
	var candidates []*candidate
	for _, object := range batch {
		if c := p.candidate(object); c != nil {
			candidates = append(candidates, c)
		} else {
			p.setPending(keyOf(object), nil, nil)
		}
	}
	p.convert(convertCtx, candidates)
	var group errgroup.Group
	group.SetLimit(parallelWrites)
	for _, c := range candidates {
		group.Go(func() error { return p.migrate(ctx, convertCtx, c) })
	}
	return group.Wait()
}

// candidate is an object with entries that do not conform to the current schema.
type candidate struct {
	object *watchcache.Object
	parsed apply.Object
	chains []*chain // the chain of each entry; nil for an entry that need not be migrated
	// converted maps versions to the object at that version.
	converted map[string]conversion
}

// conversion is an object at a version, or the reason why it could not be converted.
type conversion struct {
	doc document.Value
	err error
}

// candidate returns the candidate for an object; nil if no entry of the object has to be migrated, or if the object cannot be
// parsed.
func (p *pass) candidate(object *watchcache.Object) *candidate {
	parsed, err := p.objects.Parsed(object)
	if err != nil {
		return nil
	}
	c := &candidate{object: object, parsed: parsed, chains: make([]*chain, len(parsed.Entries)), converted: map[string]conversion{}}
	needed := false
	for i, entry := range parsed.Entries {
		c.chains[i] = p.chainOf(c, entry)
		needed = needed || c.chains[i] != nil
	}
	if !needed {
		return nil
	}
	return c
}

// chainOf returns the chain of an entry; nil if the entry need not be migrated.
func (p *pass) chainOf(c *candidate, entry apply.Entry) *chain {
	version := path.Base(entry.APIVersion)
	if entry.APIVersion != p.current.Group+"/"+version {
		return nil
	}
	key := chainKey{version, p.history.generationOf(keyOf(c.object), c.uid(), entry)}
	p.mu.Lock()
	defer p.mu.Unlock()
	known, ok := p.chains[key]
	if !ok {
		known = newChain(p.current, p.history.since(key.generation), version)
		p.chains[key] = known
	}
	return known
}

// keyOf returns the key of an object without its Kind.
func keyOf(object *watchcache.Object) watchcache.Key {
	return watchcache.Key{Namespace: object.Namespace(), Name: object.Name()}
}

func (c *candidate) uid() string { return c.parsed.Document.Lookup("metadata", "uid").Text() }

// isStoredAt reports whether the object is stored at the given version, so it needs no conversion.
func (c *candidate) isStoredAt(version string) bool {
	return path.Base(c.parsed.Document.Get("apiVersion").Text()) == version
}

// convert converts candidates to the target versions of their chains.
func (p *pass) convert(ctx context.Context, candidates []*candidate) {
	requested := map[string][]*candidate{}
	for _, c := range candidates {
		for _, chain := range c.chains {
			if chain == nil {
				continue
			}
			if _, ok := c.converted[chain.to]; ok {
				continue
			}
			if c.isStoredAt(chain.to) {
				doc, err := p.current.FromStorage(c.parsed.Document, chain.to)
				c.converted[chain.to] = conversion{doc, err}
				continue
			}
			c.converted[chain.to] = conversion{}
			requested[chain.to] = append(requested[chain.to], c)
		}
	}
	for _, version := range slices.Sorted(maps.Keys(requested)) {
		p.convertTo(ctx, requested[version], version)
	}
}

// convertTo converts candidates to one version. If the webhook rejects an object, convertTo continues with the next objects. If
// the webhook is unavailable, it is not called again in this pass.
func (p *pass) convertTo(ctx context.Context, all []*candidate, version string) {
	for len(all) > 0 {
		if err := p.unavailable.Load(); err != nil {
			for _, c := range all {
				c.converted[version] = conversion{err: *err}
			}
			return
		}
		docs := make([]document.Value, len(all))
		for i, c := range all {
			docs[i] = c.parsed.Document
		}
		converted, err := p.current.ConvertAll(ctx, docs, version)
		for i, doc := range converted {
			all[i].converted[version] = conversion{doc: doc}
		}
		all = all[len(converted):]
		switch {
		case err == nil:
			return
		case crd.IsUnavailable(err):
			p.unavailable.Store(&err)
		default:
			all[0].converted[version] = conversion{err: err}
			all = all[1:]
		}
	}
}

// migrate writes the migrated entries of a candidate. After a conflict with another server, or with a client while writes are not
// blocked, it retries with the current object.
func (p *pass) migrate(ctx, convertCtx context.Context, c *candidate) error {
	key := keyOf(c.object)
	for c != nil {
		if err := ctx.Err(); err != nil {
			return err
		}
		entries, pending, lost, cause := c.migratedEntries()
		err := p.write(ctx, c, entries)
		if err == nil {
			p.reportLost(key, lost)
			p.setPending(key, c.pendingObject(pending), cause)
			return nil
		}
		if isConflict(err) {
			if c, err = p.reload(ctx, convertCtx, c); err == nil {
				continue
			}
		}
		p.setPending(key, c.pendingObject(c.allEntries()), err)
		return ctx.Err()
	}
	p.setPending(key, nil, nil)
	return nil
}

// write writes the entries of an object, unless they are unchanged. The write changes the revision of the object, but not its
// other fields, which may still conform to an earlier schema. Therefore write first calls MarkStale, which removes the mark
// of markCurrent until the end of the pass.
func (p *pass) write(ctx context.Context, c *candidate, entries []apply.Entry) error {
	if slices.Equal(entries, c.parsed.Entries) {
		return nil
	}
	p.current.MarkStale()
	return p.objects.ReplaceEntries(ctx, c.object, c.parsed, entries)
}

// reload returns the candidate for the latest version of the object; nil if the object was deleted or no longer needs to be
// migrated.
func (p *pass) reload(ctx, convertCtx context.Context, c *candidate) (*candidate, error) {
	key := keyOf(c.object)
	key.Kind = p.storeKey
	object, err := p.objects.Cache.Get(ctx, key, watchcache.Latest)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return c, err
	}
	changed := p.candidate(object)
	if changed != nil {
		p.convert(convertCtx, []*candidate{changed})
	}
	return changed, nil
}

// setPending records the entries of an object that could not be migrated, and the cause. object is nil if all entries were
// migrated.
func (p *pass) setPending(key watchcache.Key, object *pendingObject, cause error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if object == nil {
		delete(p.pending, key)
		return
	}
	if !p.history.isMigrated() { // the metric counts entries in the first pass only, not in retries
		p.objects.Metrics.ManagedFields(metrics.Kept, len(object.Entries))
	}
	p.pending[key], p.lastError = *object, cause
}

// pendingObject returns the record of the object with its pending entries; nil if entries is empty.
func (c *candidate) pendingObject(entries []pendingEntry) *pendingObject {
	if len(entries) == 0 {
		return nil
	}
	return &pendingObject{Namespace: c.object.Namespace(), Name: c.object.Name(), UID: c.uid(), Entries: entries}
}

// allEntries returns all entries of the object that have to be migrated, as pending entries.
func (c *candidate) allEntries() (all []pendingEntry) {
	for i, chain := range c.chains {
		if chain != nil {
			all = append(all, newPendingEntry(c.parsed.Entries[i], chain.generation))
		}
	}
	return all
}

// migratedEntries returns the object's entries mapped to the current schema, and the fields that they lose. An entry that
// cannot be migrated is returned unchanged. If the conversion webhook was unavailable, so that a retry may succeed, the entry
// is in pending, and cause is the error.
func (c *candidate) migratedEntries() (entries []apply.Entry, pending []pendingEntry, lost []lostFields, cause error) {
	for i, entry := range c.parsed.Entries {
		chain := c.chains[i]
		if chain == nil {
			entries = append(entries, entry)
			continue
		}
		at := c.converted[chain.to]
		if crd.IsUnavailable(at.err) {
			pending, cause = append(pending, newPendingEntry(entry, chain.generation)), at.err
		}
		if at.err != nil {
			entries = append(entries, entry)
			continue
		}
		migrated, fields, ok, err := chain.migrate(entry, at.doc)
		if err == nil && !fields.IsEmpty() {
			lost = append(lost, lostFields{entry, fields})
		}
		switch {
		case err != nil:
			entries = append(entries, entry)
		case ok:
			entries = append(entries, migrated)
		}
	}
	return mergeEntries(entries), pending, lost, cause
}

// lostFields are the fields of a managed fields entry that the current schema cannot express.
type lostFields struct {
	entry  apply.Entry
	fields fieldset.Set
}

// maxLostPaths is the maximum number of paths in a log message about lost fields.
const maxLostPaths = 10

// reportLost logs the fields that entries of an object have lost, and counts these entries.
func (p *pass) reportLost(key watchcache.Key, all []lostFields) {
	for _, lost := range all {
		paths := lost.fields.Paths()
		var shown []string
		for _, path := range paths[:min(len(paths), maxLostPaths)] {
			shown = append(shown, path.String())
		}
		p.objects.Metrics.ManagedFields(metrics.Reduced, 1)
		p.objects.Log.Warn("a managed fields entry lost fields that the changed schema does not have", "key", key.String(), "manager", lost.entry.Manager,
			"apiVersion", lost.entry.APIVersion, "fields", len(paths), "paths", shown)
	}
}
