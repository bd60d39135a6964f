package managedfields

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/api/crd"
	"github.com/cadastre/cadastre/internal/controllers/workqueue"
	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

const (
	// workers is the number of CRDs whose objects are migrated concurrently. Each worker waits for a conversion webhook
	// for at most Options.ConversionTimeout.
	workers = 16
	// recordTimeout is the timeout of the commit that records the result of a pass. The commit is attempted even if the context
	// of the pass has ended.
	recordTimeout = 5 * time.Second
)

// Options are the dependencies and timeouts of a Migrator.
type Options struct {
	Objects *registry.Registry
	Log     *slog.Logger
	// ConversionTimeout is the total time for calls of a conversion webhook in one pass over the objects of a kind. It is the
	// maximum time for which an unavailable webhook blocks writes. 0 means the timeout of a single conversion.
	ConversionTimeout time.Duration
	// MinBackoff and MaxBackoff are the first and the longest wait before pending entries are retried. 0 means one
	// second and one minute.
	MinBackoff, MaxBackoff time.Duration
}

// Migrator migrates the managed fields of custom resources to the current schemas of their CRDs. It is safe for concurrent
// use.
type Migrator struct {
	options   Options
	histories histories

	mu sync.Mutex
	// current maps the name of each CRD to the migration to its served generation.
	current map[string]*Migration
	queue   *workqueue.Queue[string] // names of CRDs; nil until Run
}

// New returns a Migrator. It does nothing before Run.
func New(options Options) *Migrator {
	options.ConversionTimeout = cmp.Or(options.ConversionTimeout, crd.ConversionTimeout)
	options.MinBackoff = cmp.Or(options.MinBackoff, time.Second)
	options.MaxBackoff = cmp.Or(options.MaxBackoff, time.Minute)
	return &Migrator{
		options: options, histories: histories{options.Objects.Cache, options.Log}, current: map[string]*Migration{},
	}
}

// Migration is the migration of all objects of a kind to the generation of the CRD from which the kind was created.
type Migration struct {
	Kind     *api.Kind
	resource *crd.Resource
	// unblock admits writes to the kind. It is idempotent, and a no-op if writes are not blocked.
	unblock func()
	// drained is closed when no write that uses a replaced kind is in flight.
	drained chan struct{}

	// The fields below are used by reconcile only, which the queue never calls concurrently for one CRD.

	history history
	// isRead reports whether history was read from the store. isRecorded reports whether history equals the stored state.
	isRead, isRecorded bool
}

func newMigration(kind *api.Kind) *Migration {
	return &Migration{Kind: kind, resource: kind.Definition.(*crd.Resource), unblock: func() {}, drained: make(chan struct{})}
}

// Prepare returns the migration to a kind that is about to be registered. If managed fields entries must be migrated before the
// first write, or if the persisted state cannot be read, it blocks writes to the kind.
func (m *Migrator) Prepare(ctx context.Context, kind *api.Kind) *Migration {
	migration := newMigration(kind)
	h, err := m.histories.read(ctx, migration.resource.Definition)
	if err != nil || !h.isMigrated() {
		migration.unblock = kind.WriteGate.Block()
	}
	return migration
}

// Cancel admits the writes that Prepare blocked. It is called if the kind could not be registered.
func (migration *Migration) Cancel() { migration.unblock() }

// Drain rejects new writes that use the kind, and blocks until no write that uses the kind, or a kind that it replaced, is in
// flight.
func (migration *Migration) Drain() {
	migration.Kind.WriteGate.Close()
	<-migration.drained
}

// Track makes migration the current migration of its CRD. It is called after the kind was registered; Start must follow.
func (m *Migrator) Track(migration *Migration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.current[migration.resource.Name] = migration
}

// Start waits for the writes in flight that use the kind of replaced, which may be nil, and then adds migration to the
// workqueue.
func (m *Migrator) Start(migration, replaced *Migration) {
	if replaced != nil {
		replaced.Drain()
	}
	close(migration.drained)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.queue != nil {
		m.queue.Reset(migration.resource.Name)
		m.queue.Add(migration.resource.Name)
	}
}

// Delete deletes the persisted state of a CRD that no longer exists.
func (m *Migrator) Delete(ctx context.Context, d *crd.Definition) {
	m.mu.Lock()
	if g := m.current[d.Name]; g != nil && g.resource.UID == d.UID {
		delete(m.current, d.Name)
	}
	m.mu.Unlock()
	all, err := m.histories.readAll(ctx, d.UID)
	if err != nil {
		m.options.Log.Error("cannot delete the migration state of a CustomResourceDefinition", "name", d.Name, "error", err)
		return
	}
	m.histories.delete(ctx, all[d.UID])
}

// Loading resumes migrations when a server starts. The caller passes every existing CRD to Resume, Keep or KeepNamed, and
// then calls Finish.
type Loading struct {
	migrator  *Migrator
	histories map[string]history // the histories of the CRDs that were not passed to a method yet, by UID
}

// Load reads the persisted state of all CRDs.
func (m *Migrator) Load(ctx context.Context) (*Loading, error) {
	all, err := m.histories.readAll(ctx, "")
	return &Loading{m, all}, err
}

// Resume returns the migration to a kind that is about to be registered. If managed fields entries must be migrated before
// the first write, it blocks writes until Run has migrated the entries. Every object that was written with an earlier
// generation has at most this revision.
func (l *Loading) Resume(kind *api.Kind, revision storage.Revision) *Migration {
	g := newMigration(kind)
	close(g.drained)
	h := l.histories[g.resource.UID].before(g.resource.Generation)
	l.Keep(g.resource.UID)
	if h.isEmpty() {
		g.resource.MarkCurrent(revision)
		return g
	}
	if !h.isMigrated() {
		g.unblock = kind.WriteGate.Block()
	}
	l.migrator.mu.Lock()
	defer l.migrator.mu.Unlock()
	l.migrator.current[g.resource.Name] = g
	return g
}

// Keep retains the persisted state of a CRD that exists but is not served.
func (l *Loading) Keep(uid string) { delete(l.histories, uid) }

// KeepNamed retains the persisted state of a CRD that exists but cannot be parsed.
func (l *Loading) KeepNamed(name string) {
	maps.DeleteFunc(l.histories, func(_ string, h history) bool {
		return slices.ContainsFunc(h.previous, func(g generation) bool { return g.Name == name })
	})
}

// Finish deletes the persisted state of all CRDs that were not passed to Resume, Keep or KeepNamed: they no longer exist.
func (l *Loading) Finish(ctx context.Context) {
	for _, h := range l.histories {
		l.migrator.histories.delete(ctx, h)
	}
}

// Run processes migrations until the context ends. Blocked writes remain blocked then, because after a restart they could not
// be distinguished from writes with the previous generation. Call Run once, after Load.
func (m *Migrator) Run(ctx context.Context) {
	queue := workqueue.NewQueue[string](m.options.MinBackoff, m.options.MaxBackoff)
	m.mu.Lock()
	m.queue = queue
	for name := range m.current {
		queue.Add(name)
	}
	m.mu.Unlock()
	queue.Run(ctx, workers, func(ctx context.Context, name string) (isDone bool) { return m.reconcile(ctx, name) == nil })
}

// reconcile migrates the objects of the named CRD. It logs an error before it returns it; the workqueue then retries the
// CRD.
func (m *Migrator) reconcile(ctx context.Context, name string) error {
	m.mu.Lock()
	migration := m.current[name]
	m.mu.Unlock()
	if migration == nil || !migration.isDrained() {
		return nil // Start adds the CRD to the queue again
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer migration.Kind.WriteGate.OnClose(cancel)()
	err := m.advance(ctx, migration)
	switch {
	case err == nil || ctx.Err() != nil || errors.Is(err, watchcache.ErrClosed):
		return nil // the migration is done, the kind was replaced, or the server stops
	case !migration.isRead || !migration.history.isMigrated():
		m.queue.Reset(name) // writes are blocked: the retry must not wait longer than the minimum backoff
		m.options.Log.Error("cannot migrate the managedFields of custom resources, retrying", "name", name, "error", err)
	default:
		m.options.Log.Warn("cannot migrate the managedFields of some custom resources yet, retrying", "name", name,
			"objects", len(migration.history.pending.objects), "error", err)
	}
	return err
}

func (migration *Migration) isDrained() bool {
	select {
	case <-migration.drained:
		return true
	default:
		return false
	}
}

// advance runs the possible steps of 3 to 6 of the package documentation. It returns an error if entries remain to be
// migrated.
func (m *Migrator) advance(ctx context.Context, migration *Migration) error {
	if !migration.isRead {
		h, err := m.histories.read(ctx, migration.resource.Definition)
		if err != nil {
			return err
		}
		migration.history, migration.isRead, migration.isRecorded = h, true, true
	}
	if migration.history.isMigrated() {
		m.admitWriters(ctx, migration)
		return m.retryPending(ctx, migration)
	}
	var cause error
	for !migration.history.isMigrated() {
		all, err := m.listObjects(ctx, migration)
		if err != nil {
			return err
		}
		if cause, err = m.migrate(ctx, migration, all); err != nil {
			return err
		}
	}
	m.admitWriters(ctx, migration)
	return migration.unfinished(cause)
}

// admitWriters marks the resource as current and admits writes.
func (m *Migrator) admitWriters(ctx context.Context, migration *Migration) {
	m.markCurrent(ctx, migration)
	migration.unblock()
}

// markCurrent marks objects that are written after the current revision as conforming to the current schema, unless the
// resource is marked already. Without the mark, every read compares the object with the schema.
func (m *Migrator) markCurrent(ctx context.Context, migration *Migration) {
	if migration.resource.IsMarkedCurrent() {
		return
	}
	if revision, err := m.options.Objects.Cache.Revision(ctx); err == nil {
		migration.resource.MarkCurrent(revision)
	}
}

// retryPending tries to migrate the pending entries, if there are any. It returns an error if entries are still pending.
func (m *Migrator) retryPending(ctx context.Context, migration *Migration) error {
	before := len(migration.history.pending.objects)
	if before == 0 && migration.isRecorded {
		return nil
	}
	all, err := m.pendingObjects(ctx, migration)
	if err != nil {
		return err
	}
	cause, err := m.migrate(ctx, migration, all)
	m.markCurrent(ctx, migration)
	if len(migration.history.pending.objects) < before {
		m.queue.Reset(migration.resource.Name) // some entries were migrated, so the webhook is available again
	}
	if err != nil {
		return err
	}
	return migration.unfinished(cause)
}

var errPending = errors.New("managedFields entries are pending")

// unfinished returns cause, the reason why entries are pending; nil if no entry is pending.
func (migration *Migration) unfinished(cause error) error {
	switch {
	case len(migration.history.pending.objects) == 0:
		return nil
	case cause == nil:
		return errPending // another server has recorded the pending entries
	}
	return cause
}

// migrate runs one pass over objects and records the entries that are pending after the pass. cause is the reason why an
// entry is pending; nil if no entry is pending.
func (m *Migrator) migrate(ctx context.Context, migration *Migration, all []*watchcache.Object) (cause, err error) {
	p := newPass(m.options.Objects, migration, m.options.ConversionTimeout)
	failed := p.run(ctx, all)
	if failed != nil && !migration.history.isMigrated() {
		return nil, failed // an incomplete first pass is repeated as a whole before writes are admitted
	}
	recording, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	if err := m.record(recording, migration, p.pending); err != nil {
		return nil, fmt.Errorf("recording the progress: %w", err)
	}
	return p.lastError, failed
}

// record stores the entries that are pending after a pass, unless they are stored already. If another server has recorded a pass
// since the history was read, record adopts the history of that server.
func (m *Migrator) record(ctx context.Context, migration *Migration, objects map[watchcache.Key]pendingObject) error {
	isMigrated := migration.history.isMigrated()
	if migration.isRecorded && isMigrated && reflect.DeepEqual(objects, migration.history.pending.objects) {
		return nil
	}
	next := pending{generation: migration.resource.Generation, objects: objects}
	err := m.histories.update(ctx, migration.resource.UID, next, migration.history)
	if err == nil || isConflict(err) {
		var h history
		if h, err = m.histories.read(ctx, migration.resource.Definition); err == nil {
			migration.history, migration.isRecorded = h, true
			return nil
		}
	}
	if isMigrated { // only the record is retried: a second migration could change entries that clients have written since
		migration.isRecorded = false
		migration.history.pending.generation, migration.history.pending.objects = next.generation, next.objects
	}
	return err
}

// listObjects returns all objects of the kind.
func (m *Migrator) listObjects(ctx context.Context, migration *Migration) ([]*watchcache.Object, error) {
	list, err := m.options.Objects.Cache.List(ctx, watchcache.Query{Selection: watchcache.Selection{Kind: migration.Kind.StoreName()}, Freshness: watchcache.Latest})
	if err != nil {
		return nil, err
	}
	return list.Objects, nil
}

// pendingObjects returns the objects with pending entries, in random order, so that a slow conversion of an object does not
// delay the same other objects in each retry.
func (m *Migrator) pendingObjects(ctx context.Context, migration *Migration) (all []*watchcache.Object, err error) {
	for key := range migration.history.pending.objects {
		key.Kind = migration.Kind.StoreName()
		object, err := m.options.Objects.Cache.Get(ctx, key, watchcache.Latest)
		switch {
		case err == nil:
			all = append(all, object)
		case !errors.Is(err, storage.ErrNotFound):
			return nil, err
		}
	}
	return all, nil
}
