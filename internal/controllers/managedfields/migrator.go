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
	// workers is the number of definitions whose objects are migrated concurrently. A worker waits for a conversion
	// webhook for at most Options.ConversionTimeout.
	workers = 16
	// recordTimeout limits the commit that records a pass when its context has ended.
	recordTimeout = 5 * time.Second
)

// Options are the dependencies and timeouts of a Migrator.
type Options struct {
	Objects *registry.Registry
	Log     *slog.Logger
	// ConversionTimeout is the total time for calls of a conversion webhook in one pass over the objects of a kind. It
	// bounds how long an unavailable webhook blocks writers. 0 means the timeout of a single conversion.
	ConversionTimeout time.Duration
	// MinBackoff and MaxBackoff are the first and the longest wait before pending entries are retried. 0 means one
	// second and one minute.
	MinBackoff, MaxBackoff time.Duration
}

// Migrator migrates the managed fields of custom resources to the current schemas of their definitions. Safe for
// concurrent use.
type Migrator struct {
	options   Options
	histories histories

	mu sync.Mutex
	// current is the migration to the served generation of each definition, by the definition's name.
	current map[string]*Migration
	queue   *workqueue.Queue[string] // names of definitions; nil until Run
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

// Migration is the migration of all objects of a kind to the generation of the definition that the kind was made of.
type Migration struct {
	Kind     *api.Kind
	resource *crd.Resource
	// unblock lets writers in. Idempotent; a no-op if writers are not blocked.
	unblock func()
	// drained is closed when no write by a replaced kind is in flight.
	drained chan struct{}

	// The fields below belong to reconcile, which the queue never calls twice at the same time for a definition.

	history history
	// isRead says that history was read; isRecorded that it is what is stored.
	isRead, isRecorded bool
}

func newMigration(kind *api.Kind) *Migration {
	return &Migration{Kind: kind, resource: kind.Definition.(*crd.Resource), unblock: func() {}, drained: make(chan struct{})}
}

// Prepare returns the migration to a kind that is about to be registered. If entries must be migrated before the first
// write, or it is unknown whether they must, it blocks writers.
func (m *Migrator) Prepare(ctx context.Context, kind *api.Kind) *Migration {
	g := newMigration(kind)
	h, err := m.histories.read(ctx, g.resource.Definition)
	if err != nil || !h.isMigrated() {
		g.unblock = kind.WriteGate.Block()
	}
	return g
}

// Cancel lets the writers in that Prepare blocked. For a kind that could not be registered.
func (g *Migration) Cancel() { g.unblock() }

// Drain rejects new writes by the kind and blocks until none is in flight, by it or by a kind that it replaced.
func (g *Migration) Drain() {
	g.Kind.WriteGate.Close()
	<-g.drained
}

// Track makes a migration, whose kind has been registered, the current one of its definition. Start must follow.
func (m *Migrator) Track(g *Migration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.current[g.resource.Name] = g
}

// Start drains writes by the kind that was replaced, if replaced is not nil, and then starts a migration. It blocks while
// writes are in flight.
func (m *Migrator) Start(g, replaced *Migration) {
	if replaced != nil {
		replaced.Drain()
	}
	close(g.drained)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.queue != nil {
		m.queue.Reset(g.resource.Name)
		m.queue.Add(g.resource.Name)
	}
}

// Delete deletes the persisted state of a definition that no longer exists.
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

// Loading resumes migrations when a server starts. Every definition that exists is passed to Resume or one of the
// Keep methods before Finish.
type Loading struct {
	migrator  *Migrator
	histories map[string]history // of definitions that were not seen yet, by UID
}

// Load reads the persisted state of all definitions.
func (m *Migrator) Load(ctx context.Context) (*Loading, error) {
	all, err := m.histories.readAll(ctx, "")
	return &Loading{m, all}, err
}

// Resume returns the migration to a kind that is about to be registered. It blocks writers if entries must be migrated
// before the first write; Run does so. Revision is at least that of every object that an earlier generation may
// have written.
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

// Keep keeps the state of a definition that is not served.
func (l *Loading) Keep(uid string) { delete(l.histories, uid) }

// KeepNamed keeps the state of a definition that cannot be read.
func (l *Loading) KeepNamed(name string) {
	maps.DeleteFunc(l.histories, func(_ string, h history) bool {
		return slices.ContainsFunc(h.previous, func(g generation) bool { return g.Name == name })
	})
}

// Finish deletes the state of all other definitions, which no longer exist.
func (l *Loading) Finish(ctx context.Context) {
	for _, h := range l.histories {
		l.migrator.histories.delete(ctx, h)
	}
}

// Run migrates until the context ends. Writers that are blocked then stay blocked: their writes could not be told from
// those of the previous generation after a restart. Call it once, after Load.
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

// reconcile migrates the objects of the definition with a name. An error, which is logged, asks for a retry.
func (m *Migrator) reconcile(ctx context.Context, name string) error {
	m.mu.Lock()
	g := m.current[name]
	m.mu.Unlock()
	if g == nil || !g.isDrained() {
		return nil // Start adds it to the queue
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer g.Kind.WriteGate.OnClose(cancel)()
	err := m.advance(ctx, g)
	switch {
	case err == nil || ctx.Err() != nil || errors.Is(err, watchcache.ErrClosed):
		return nil // done; or the kind was replaced, or the server stops
	case !g.isRead || !g.history.isMigrated():
		m.queue.Reset(name) // writers wait: retry without a growing backoff
		m.options.Log.Error("cannot migrate the managedFields of custom resources, retrying", "name", name, "error", err)
	default:
		m.options.Log.Warn("cannot migrate the managedFields of some custom resources yet, retrying", "name", name,
			"objects", len(g.history.pending.objects), "error", err)
	}
	return err
}

func (g *Migration) isDrained() bool {
	select {
	case <-g.drained:
		return true
	default:
		return false
	}
}

// advance takes a migration as far as possible now: steps 3 to 6 of the package documentation.
func (m *Migrator) advance(ctx context.Context, g *Migration) error {
	if !g.isRead {
		h, err := m.histories.read(ctx, g.resource.Definition)
		if err != nil {
			return err
		}
		g.history, g.isRead, g.isRecorded = h, true, true
	}
	if g.history.isMigrated() {
		m.admitWriters(ctx, g)
		return m.retryPending(ctx, g)
	}
	var cause error
	for !g.history.isMigrated() {
		all, err := m.listObjects(ctx, g)
		if err != nil {
			return err
		}
		if cause, err = m.migrate(ctx, g, all); err != nil {
			return err
		}
	}
	m.admitWriters(ctx, g)
	return g.unfinished(cause)
}

// admitWriters declares the objects that are written from now on current, and lets writers in.
func (m *Migrator) admitWriters(ctx context.Context, g *Migration) {
	m.markCurrent(ctx, g)
	g.unblock()
}

// markCurrent marks the resource as current, unless it is marked. Without the mark requests work, but have to compare
// every object with the schema.
func (m *Migrator) markCurrent(ctx context.Context, g *Migration) {
	if g.resource.IsMarkedCurrent() {
		return
	}
	if revision, err := m.options.Objects.Cache.Revision(ctx); err == nil {
		g.resource.MarkCurrent(revision)
	}
}

// retryPending migrates the pending entries, if any.
func (m *Migrator) retryPending(ctx context.Context, g *Migration) error {
	before := len(g.history.pending.objects)
	if before == 0 && g.isRecorded {
		return nil
	}
	all, err := m.pendingObjects(ctx, g)
	if err != nil {
		return err
	}
	cause, err := m.migrate(ctx, g, all)
	m.markCurrent(ctx, g)
	if len(g.history.pending.objects) < before {
		m.queue.Reset(g.resource.Name) // progress: the webhook is back
	}
	if err != nil {
		return err
	}
	return g.unfinished(cause)
}

var errPending = errors.New("managedFields entries are pending")

// unfinished returns the cause why entries are pending; nil if none are.
func (g *Migration) unfinished(cause error) error {
	switch {
	case len(g.history.pending.objects) == 0:
		return nil
	case cause == nil:
		return errPending // another server recorded them
	}
	return cause
}

// migrate makes one pass over objects and records it. The cause is why entries are pending, for one of them.
func (m *Migrator) migrate(ctx context.Context, g *Migration, all []*watchcache.Object) (cause, err error) {
	p := newPass(m.options.Objects, g, m.options.ConversionTimeout)
	failed := p.run(ctx, all)
	if failed != nil && !g.history.isMigrated() {
		return nil, failed // an incomplete first pass is repeated as a whole before writers are let in
	}
	recording, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	if err := m.record(recording, g, p.pending); err != nil {
		return nil, fmt.Errorf("recording the progress: %w", err)
	}
	return p.lastError, failed
}

// record stores the entries that are pending after a pass, unless they are stored already. If another server has
// recorded a pass since the history was read, its record counts.
func (m *Migrator) record(ctx context.Context, g *Migration, objects map[watchcache.Key]pendingObject) error {
	isMigrated := g.history.isMigrated()
	if g.isRecorded && isMigrated && reflect.DeepEqual(objects, g.history.pending.objects) {
		return nil
	}
	next := pending{generation: g.resource.Generation, objects: objects}
	err := m.histories.update(ctx, g.resource.UID, next, g.history)
	if err == nil || isConflict(err) {
		var h history
		if h, err = m.histories.read(ctx, g.resource.Definition); err == nil {
			g.history, g.isRecorded = h, true
			return nil
		}
	}
	if isMigrated { // clients have written meanwhile: retry the record, do not migrate these objects twice
		g.isRecorded = false
		g.history.pending.generation, g.history.pending.objects = next.generation, next.objects
	}
	return err
}

// listObjects returns all objects of the kind.
func (m *Migrator) listObjects(ctx context.Context, g *Migration) ([]*watchcache.Object, error) {
	list, err := m.options.Objects.Cache.List(ctx, watchcache.Query{Selection: watchcache.Selection{Kind: g.Kind.StoreName()}, Freshness: watchcache.Latest})
	if err != nil {
		return nil, err
	}
	return list.Objects, nil
}

// pendingObjects returns the objects with pending entries, in random order, so that an object whose conversion takes
// too long is not always in front of the same others.
func (m *Migrator) pendingObjects(ctx context.Context, g *Migration) (all []*watchcache.Object, err error) {
	for key := range g.history.pending.objects {
		key.Kind = g.Kind.StoreName()
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
