package custom

import (
	"context"
	"errors"
	"math"
	"reflect"
	"time"

	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/kinds"
	"github.com/cadastre/cadastre/internal/store"
)

// A kind takes the place of another in three steps. Writers are held while the first two are done:
//
//	1 those who write by the other kind finish
//	2 owners are brought over in all objects, and what can't be, since who converts does not answer, is noted as arrears
//	3 for as long as there are arrears they are tried again, at longer and longer intervals
//
// If the kind is itself replaced, it stops wherever it is, and the next one begins with what is noted.

// times are how long the controller waits.
type times struct {
	// hold is how long writers wait at most for who converts objects, before their owners are left as they are for now.
	hold time.Duration
	// first is how long it takes until arrears are tried again, last how long at most.
	first, last time.Duration
}

// usualTimes are those of a server. A webhook that answers as late as it may holds nobody for longer than any other does.
var usualTimes = times{hold: conversionTime, first: time.Second, last: time.Minute}

// hold keeps those waiting who want to write by a kind, if its owners have to be brought over first.
func (c *Controller) hold(ctx context.Context, kind *kinds.Kind) (release func()) {
	p, err := c.pastOf(ctx, kind.Definition.(*definition))
	if err == nil && p.isOver() {
		return func() {}
	}
	return kind.Uses.Hold()
}

// startTakingPlace has a kind that is in the register take the place of another, which may be nil. Who is held is let
// go when owners are brought over, and not when the server ends before: nobody could tell later that a write was by the
// kind.
func (c *Controller) startTakingPlace(ctx context.Context, before, kind *kinds.Kind, release func()) {
	bringing := &kind.Definition.(*definition).bringing
	bringing.Add(1)
	c.running.Go(func() {
		defer bringing.Done()
		if before != nil {
			end(before)
		}
		c.takePlace(ctx, kind, release)
	})
}

// end lets nobody write by a kind any more, and returns when nobody does, by it or by any that it has taken the place
// of, and nobody brings owners over to it.
func end(kind *kinds.Kind) {
	kind.Uses.End()
	kind.Definition.(*definition).bringing.Wait()
}

// takePlace brings owners over to a kind, lets those go who are held, and goes on until there are no arrears.
func (c *Controller) takePlace(ctx context.Context, kind *kinds.Kind, release func()) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer kind.Uses.OnEnd(cancel)()
	b := c.newBringer(ctx, kind)
	if b == nil {
		return
	}
	wait := time.Duration(0)
	for !b.past.isOver() {
		if !c.bringOver(ctx, b) {
			sleep(ctx, lastWait)
		}
		if ctx.Err() != nil {
			return
		}
		wait = c.times.first
	}
	c.settled(ctx, kind)
	release()
	c.catchUp(ctx, b, wait)
}

// newBringer returns who brings owners over to a kind, nil if the context ends before it is known what is to be done.
func (c *Controller) newBringer(ctx context.Context, kind *kinds.Kind) *bringer {
	now := kind.Definition.(*definition)
	for {
		p, err := c.pastOf(ctx, now)
		if err == nil {
			return &bringer{objects: c.Objects, kind: kind, now: now, past: p, isNoted: true, askingTime: c.times.hold}
		}
		if ctx.Err() != nil || errors.Is(err, cache.ErrClosed) {
			return nil
		}
		c.Log.Error("cannot read what a CustomResourceDefinition was before; it is tried again", "name", now.name, "error", err)
		sleep(ctx, lastWait)
	}
}

// catchUp brings over what is in arrears, until there is nothing or the kind is replaced. It waits for a time before it
// first does, and then for longer and longer unless it gets on.
func (c *Controller) catchUp(ctx context.Context, b *bringer, wait time.Duration) {
	for count := len(b.past.arrears.objects); count > 0 || !b.isNoted; {
		if sleep(ctx, wait); ctx.Err() != nil {
			return
		}
		c.bringOver(ctx, b)
		if b.now.since.Load() == math.MaxInt64 {
			c.settled(ctx, b.kind)
		}
		before := count
		if count = len(b.past.arrears.objects); count < before {
			wait = 0
		}
		wait = min(max(2*wait, c.times.first), c.times.last)
	}
}

// lastNote is how long it may take to note what is left when nobody goes on.
const lastNote = 5 * time.Second

// bringOver brings over the owners of all objects, or of those in arrears if the others are as the definition has them,
// and notes what is left. It returns false if the objects could not be read, or the context has ended.
func (c *Controller) bringOver(ctx context.Context, b *bringer) bool {
	which := b.allObjects
	if b.past.isOver() {
		which = b.objectsInArrears
	}
	all, err := which(ctx)
	if err != nil {
		c.complain(ctx, "cannot bring owners of custom resources to their new definition; it is tried again", b, err)
		return false
	}
	failed := b.bringAll(ctx, all)
	if failed != nil && !b.past.isOver() {
		return false // whoever goes on does it all again, before anybody writes
	}
	if len(b.left) > 0 && failed == nil {
		c.Log.Warn("cannot bring owners of some custom resources to their new definition yet; it is tried again", "name", b.now.name, "objects", len(b.left), "error", b.why)
	}
	noting, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastNote)
	defer cancel()
	if err := c.note(noting, b); err != nil {
		c.complain(ctx, "cannot note which owners of custom resources have not followed their definition; it is tried again", b, err)
	}
	return failed == nil
}

// complain logs what went wrong, unless nobody wants to know any more.
func (c *Controller) complain(ctx context.Context, message string, b *bringer, err error) {
	if ctx.Err() == nil && !errors.Is(err, cache.ErrClosed) {
		c.Log.Error(message, "name", b.now.name, "error", err)
	}
}

// allObjects returns all objects of the kind.
func (b *bringer) allObjects(ctx context.Context) ([]*cache.Object, error) {
	list, err := b.objects.Cache.List(ctx, cache.Query{Selection: cache.Selection{Kind: b.kind.StoreName()}, Freshness: cache.Latest})
	if err != nil {
		return nil, err
	}
	return list.Objects, nil
}

// objectsInArrears returns those that some entries are in arrears of, in any order: one that nobody can convert in time
// is not always before the same others.
func (b *bringer) objectsInArrears(ctx context.Context) (all []*cache.Object, err error) {
	for key := range b.past.arrears.objects {
		key.Kind = b.kind.StoreName()
		object, err := b.objects.Cache.Get(ctx, key, cache.Latest)
		switch {
		case err == nil:
			all = append(all, object)
		case !errors.Is(err, store.ErrNotFound):
			return nil, err
		}
	}
	return all, nil
}

// note writes what is left, if that is not what was. Another server may have done so before: then that counts.
func (c *Controller) note(ctx context.Context, b *bringer) error {
	left := arrears{generation: b.now.generation, objects: b.left}
	if b.isNoted && b.past.isOver() && reflect.DeepEqual(left.objects, b.past.arrears.objects) {
		return nil
	}
	b.isNoted = false
	err := c.noteArrears(ctx, b.now.uid, left, b.past)
	if err == nil || isRace(err) {
		var p past
		if p, err = c.pastOf(ctx, b.now); err == nil {
			b.past, b.isNoted = p, true
			return nil
		}
	}
	b.past.arrears.generation, b.past.arrears.objects = left.generation, left.objects
	return err
}
