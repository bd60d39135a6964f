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
	// parallelBatches is the number of batches in progress: one waits for the webhook while another one waits for the
	// disk.
	parallelBatches = 4
	// parallelWrites is the number of objects per batch that are written concurrently, to share a group commit.
	parallelWrites = 32
)

// pass migrates the entries of a list of objects once. It is used for one call of run.
type pass struct {
	objects  *registry.Registry
	storeKey string // watch cache kind of the objects
	current  *crd.Resource
	history  history
	// conversionTimeout is the total time for conversions: while it runs, writers may be blocked.
	conversionTimeout time.Duration
	// unavailable is the error of the first conversion that the webhook did not answer; it is not called again.
	unavailable atomic.Pointer[error]

	mu     sync.Mutex
	chains map[chainKey]*chain
	// pending are the entries that could not be migrated, lastError is the cause for one of them.
	pending   map[watchcache.Key]pendingObject
	lastError error
}

// chainKey identifies the entries that share a chain.
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

// run migrates the entries of objects. Entries whose conversion is unavailable end up in p.pending. It fails only if the
// context ends; entries that were pending before and were not reached stay in p.pending then.
func (p *pass) run(ctx context.Context, all []*watchcache.Object) error {
	for _, object := range all {
		if was, ok := p.history.pending.objects[keyOf(object)]; ok {
			p.pending[keyOf(object)] = was
		}
	}
	converting, cancel := context.WithTimeout(ctx, p.conversionTimeout)
	defer cancel()
	var group errgroup.Group
	group.SetLimit(parallelBatches)
	for _, batch := range batches(all) {
		group.Go(func() error { return p.runBatch(ctx, converting, batch) })
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

// runBatch migrates a batch. The context converting limits calls of the conversion webhook, ctx everything else.
func (p *pass) runBatch(ctx, converting context.Context, batch []*watchcache.Object) error {
	var candidates []*candidate
	for _, object := range batch {
		if c := p.candidate(object); c != nil {
			candidates = append(candidates, c)
		} else {
			p.setPending(keyOf(object), nil, nil)
		}
	}
	p.convert(converting, candidates)
	var group errgroup.Group
	group.SetLimit(parallelWrites)
	for _, c := range candidates {
		group.Go(func() error { return p.migrate(ctx, converting, c) })
	}
	return group.Wait()
}

// candidate is an object with entries that do not conform to the current schema.
type candidate struct {
	object *watchcache.Object
	parsed apply.Object
	chains []*chain // by entry; nil for an entry that stays as it is
	// converted is the object by version.
	converted map[string]conversion
}

// conversion is an object at a version, or the reason why it could not be converted.
type conversion struct {
	doc document.Value
	err error
}

// candidate returns nil if no entry of the object has to be migrated, or the object cannot be parsed.
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

// chainOf returns the chain of an entry, nil if the entry stays as it is.
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

// keyOf returns the key of an object among those of its kind.
func keyOf(object *watchcache.Object) watchcache.Key {
	return watchcache.Key{Namespace: object.Namespace(), Name: object.Name()}
}

func (c *candidate) uid() string { return c.parsed.Document.Lookup("metadata", "uid").Text() }

// isStoredAt reports whether the object is stored at a version, so that it needs no conversion.
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

// convertTo converts candidates to one version. A webhook that rejects an object is called for the next ones; a webhook
// that does not answer is not called again in this pass.
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

// migrate writes the migrated entries of a candidate. If another writer was first (the server itself, or a client
// while writers are not blocked), it starts again with the object as it is now.
func (p *pass) migrate(ctx, converting context.Context, c *candidate) error {
	key := keyOf(c.object)
	for c != nil {
		if err := ctx.Err(); err != nil {
			return err
		}
		entries, pending, cause := c.migratedEntries()
		err := p.write(ctx, c, entries)
		if err == nil {
			p.setPending(key, c.pendingObject(pending), cause)
			return nil
		}
		if isConflict(err) {
			if c, err = p.reload(ctx, converting, c); err == nil {
				continue
			}
		}
		p.setPending(key, c.pendingObject(c.allEntries()), err)
		return ctx.Err()
	}
	p.setPending(key, nil, nil)
	return nil
}

// write writes the entries of an object, unless they are unchanged. The rest of the object stays as an earlier
// definition stored it although its revision is new, so no object counts as current until the pass is over.
func (p *pass) write(ctx context.Context, c *candidate, entries []apply.Entry) error {
	if slices.Equal(entries, c.parsed.Entries) {
		return nil
	}
	p.current.MarkStale()
	return p.objects.Reown(ctx, c.object, c.parsed, entries)
}

// reload returns the candidate as it is stored now; nil if it was deleted or needs no migration any more.
func (p *pass) reload(ctx, converting context.Context, c *candidate) (*candidate, error) {
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
		p.convert(converting, []*candidate{changed})
	}
	return changed, nil
}

// setPending records which entries of an object could not be migrated, and why; nil if there are none.
func (p *pass) setPending(key watchcache.Key, object *pendingObject, cause error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if object == nil {
		delete(p.pending, key)
		return
	}
	if !p.history.isMigrated() { // counted in the first pass only, not in each retry
		p.objects.Metrics.ManagedFields(metrics.Kept, len(object.Entries))
	}
	p.pending[key], p.lastError = *object, cause
}

// pendingObject returns the record of an object with pending entries; nil if there are none.
func (c *candidate) pendingObject(entries []pendingEntry) *pendingObject {
	if len(entries) == 0 {
		return nil
	}
	return &pendingObject{Namespace: c.object.Namespace(), Name: c.object.Name(), UID: c.uid(), Entries: entries}
}

// allEntries returns all entries that have a chain.
func (c *candidate) allEntries() (all []pendingEntry) {
	for i, chain := range c.chains {
		if chain != nil {
			all = append(all, newPendingEntry(c.parsed.Entries[i], chain.generation))
		}
	}
	return all
}

// migratedEntries returns the entries of the object as they conform to the current schema. An entry that cannot be
// migrated stays as it is; it is pending if a retry may succeed, that is if the conversion webhook was unavailable.
func (c *candidate) migratedEntries() (entries []apply.Entry, pending []pendingEntry, cause error) {
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
		migrated, ok, err := chain.migrate(entry, at.doc)
		switch {
		case err != nil:
			entries = append(entries, entry)
		case ok:
			entries = append(entries, migrated)
		}
	}
	return mergeEntries(entries), pending, cause
}
