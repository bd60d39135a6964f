package custom

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/kinds"
	"github.com/cadastre/cadastre/internal/objects"
	"github.com/cadastre/cadastre/internal/store"
)

// Controller follows CustomResourceDefinitions, and has the kinds served that they define.
type Controller struct {
	Objects  *objects.Objects
	Webhooks Webhooks
	// Manager is as whom the controller is known in managedFields.
	Manager string
	Log     *slog.Logger

	mu sync.Mutex
	// groups are the definitions that there are, by group and name.
	groups map[string]map[string]*defined
	// removing are the definitions whose objects are being deleted.
	removing map[string]bool
	// loaded are the kinds that were loaded, and what those who write by them wait for; nil when they have taken their
	// places.
	loaded  []loaded
	times   times
	running sync.WaitGroup
}

// loaded is a kind that was loaded.
type loaded struct {
	kind    *kinds.Kind
	release func()
}

// defined is a definition that is there.
type defined struct {
	*reading
	object *cache.Object
	// kind is the kind that it defines, nil if that is not served. Then stopped is the last that was, if any: some may
	// still write by it.
	kind, stopped *kinds.Kind
}

// Load has all kinds served whose definitions are established. When it returns, they are. Nobody writes to those whose
// owners must be brought over before Run does so.
func (c *Controller) Load(ctx context.Context) error {
	c.groups, c.removing = map[string]map[string]*defined{}, map[string]bool{}
	if c.times == (times{}) {
		c.times = usualTimes
	}
	list, err := c.Objects.Cache.List(ctx, cache.Query{Selection: cache.Selection{Kind: Definitions}, Freshness: cache.Latest})
	if err != nil {
		return err
	}
	pasts, err := c.keptPasts(ctx, "")
	if err != nil {
		return err
	}
	var all []*kinds.Kind
	for _, object := range list.Objects {
		d, err := c.read(object)
		if err != nil {
			c.Log.Error("cannot read a CustomResourceDefinition", "name", object.Name(), "error", err)
			keepOf(pasts, object.Name())
			continue
		}
		if kind := c.kindOf(d, nil); d.isTrue(established) && c.mayServe(kind) {
			d.kind = kind
			c.load(kind, pasts[d.uid].before(d.generation), list.Revision)
			all = append(all, kind)
		}
		delete(pasts, d.uid)
	}
	for _, p := range pasts {
		c.discard(ctx, p)
	}
	return c.Objects.Kinds.Add(all...)
}

// keepOf takes out what is kept of a definition that nobody can read now, by its name.
func keepOf(pasts map[string]past, name string) {
	maps.DeleteFunc(pasts, func(_ string, p past) bool {
		return slices.ContainsFunc(p.formers, func(f former) bool { return f.name == name })
	})
}

// load notes a kind that is about to be served. It is known as of which revision all objects are as it has them, if
// owners need not be brought over to it first.
func (c *Controller) load(kind *kinds.Kind, p past, revision store.Revision) {
	if len(p.formers) == 0 && len(p.arrears.records) == 0 {
		kind.Definition.(*definition).since.Store(int64(revision))
		return
	}
	one := loaded{kind, func() {}}
	if !p.isOver() {
		one.release = kind.Uses.Hold()
	}
	c.loaded = append(c.loaded, one)
}

// read notes a definition as it is now.
func (c *Controller) read(object *cache.Object) (*defined, error) {
	r, err := readDefinition(object)
	if err != nil {
		return nil, err
	}
	d := &defined{reading: r, object: object}
	group := c.groups[r.group]
	if group == nil {
		group = map[string]*defined{}
		c.groups[r.group] = group
	}
	if before := group[r.name]; before != nil {
		d.kind, d.stopped = before.kind, before.stopped
	}
	group[r.name] = d
	return d, nil
}

// lastWait is how long the controller waits before it tries again what failed for no known reason.
const lastWait = time.Second

// Run follows definitions until the context ends or the cache is closed. Load has been called before.
func (c *Controller) Run(ctx context.Context) {
	defer c.running.Wait()
	for _, one := range c.loaded {
		c.startTakingPlace(ctx, nil, one.kind, one.release)
	}
	c.loaded = nil
	for ctx.Err() == nil {
		err := c.follow(ctx)
		if errors.Is(err, cache.ErrClosed) || ctx.Err() != nil {
			return
		}
		if !errors.Is(err, cache.ErrTooOld) {
			c.Log.Error("cannot follow CustomResourceDefinitions", "error", err)
			sleep(ctx, lastWait)
		}
	}
}

func sleep(ctx context.Context, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// follow looks at all definitions, and at all that changes.
func (c *Controller) follow(ctx context.Context) error {
	watcher, err := c.Objects.Cache.Watch(ctx, cache.WatchOptions{Selection: cache.Selection{Kind: Definitions}, InitialState: true, Freshness: cache.Any})
	if err != nil {
		return err
	}
	defer watcher.Close()
	seen := map[string]bool{} // until the initial state is over
	for {
		events, err := watcher.Next(ctx)
		if err != nil {
			return err
		}
		for _, e := range events {
			switch {
			case e.Type == cache.InitialEnd:
				c.goneUnseen(ctx, seen)
				seen = nil
			case e.Object == nil:
			case e.Type == cache.Deleted:
				c.gone(ctx, e.Object)
			default:
				if seen != nil {
					seen[e.Object.Name()] = true
				}
				c.changed(ctx, e.Object)
			}
		}
	}
}

// goneUnseen does what follows from definitions that went while nobody looked: all but those that were seen.
func (c *Controller) goneUnseen(ctx context.Context, seen map[string]bool) {
	for _, group := range c.groups {
		for name, d := range group {
			if !seen[name] {
				c.gone(ctx, d.object)
			}
		}
	}
}

// changed does what follows from a definition that is new or has changed.
func (c *Controller) changed(ctx context.Context, object *cache.Object) {
	d, err := c.read(object)
	if err != nil {
		c.Log.Error("cannot read a CustomResourceDefinition", "name", object.Name(), "error", err)
		return
	}
	names, last := d.accepted, cmp.Or(d.kind, d.stopped)
	c.settle(ctx, d)
	if !names.equal(d.accepted) {
		c.settleOthers(ctx, d)
	}
	if d.isTerminating && d.hasFinalizer() {
		c.startRemoving(ctx, d.name, last)
	}
}

// gone does what follows from a definition that is gone: its kind, too, and its names are free.
func (c *Controller) gone(ctx context.Context, object *cache.Object) {
	for _, group := range c.groups {
		if d := group[object.Name()]; d != nil {
			delete(group, object.Name())
			c.stopServing(d)
			c.discardOf(ctx, d.uid)
			c.settleOthers(ctx, d)
			return
		}
	}
}

// settleOthers looks again at the definitions of a group that have not got all of their names.
func (c *Controller) settleOthers(ctx context.Context, than *defined) {
	for _, d := range c.groups[than.group] {
		if d.name != than.name && !d.wanted.equal(d.accepted) {
			c.settle(ctx, d)
		}
	}
}

// settle gives a definition the names that it can have, has its kind served, and tells so. The kind is served
// before it says that it is.
func (c *Controller) settle(ctx context.Context, d *defined) {
	accepted, conditions := c.decide(d)
	isTold := accepted.equal(d.accepted) && d.hasConditions(conditions)
	d.accepted = accepted
	if slices.ContainsFunc(conditions, func(c condition) bool { return c.name == established && c.isTrue }) {
		c.serve(ctx, d)
	}
	if isTold {
		return
	}
	if err := c.tell(ctx, d, conditions); err != nil && !isRace(err) && ctx.Err() == nil {
		c.Log.Error("cannot tell that a CustomResourceDefinition is established", "name", d.name, "error", err)
	}
}

// isRace reports whether somebody else has written: then there will be another event.
func isRace(err error) bool {
	var conflict *store.ConflictError
	return errors.As(err, &conflict) || errors.Is(err, cache.ErrClosed)
}
