package custom

import (
	"context"
	"errors"
	"maps"
	"math"
	"path"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/kinds"
	"github.com/cadastre/cadastre/internal/metrics"
	"github.com/cadastre/cadastre/internal/objects"
	"github.com/cadastre/cadastre/internal/store"
)

const (
	// broughtTogether is how many objects are converted at once at most, and broughtBytes how large they may be.
	// broughtAtOnce is how many such groups there are at a time: while one waits for who converts, another waits for
	// the disk.
	broughtTogether = 100
	broughtBytes    = 1 << 20
	broughtAtOnce   = 4
	// reownedAtOnce is how many objects of a group get their owners side by side, so that they share the wait for the disk.
	reownedAtOnce = 32
)

// bringer brings the entries of a kind's objects over to its definition.
type bringer struct {
	objects *objects.Objects
	kind    *kinds.Kind
	now     *definition
	past    past
	// isNoted says that the past is as it is stored.
	isNoted bool
	// askingTime is how long all together may ask somebody who converts objects: writers wait.
	askingTime time.Duration
	// down is why nobody is asked any more: there was no answer.
	down atomic.Pointer[error]

	mu sync.Mutex
	// left are the entries that could not be brought over, and why is the reason for one of them.
	left map[cache.Key]arrear
	why  error
}

// bringAll brings over the owners of objects. What can't be brought over now is left. It fails only if the context
// ends; what was in arrears, and nobody has looked at, is left then, too.
func (b *bringer) bringAll(ctx context.Context, all []*cache.Object) error {
	b.left, b.why = map[cache.Key]arrear{}, nil
	for _, object := range all {
		key := placeOf(object)
		if was, ok := b.past.arrears.objects[key]; ok {
			b.left[key] = was
		}
	}
	b.down.Store(nil)
	asking, cancel := context.WithTimeout(ctx, b.askingTime)
	defer cancel()
	var group errgroup.Group
	group.SetLimit(broughtAtOnce)
	for _, some := range grouped(all) {
		group.Go(func() error { return b.bringGroup(ctx, asking, some) })
	}
	return group.Wait()
}

// grouped returns objects in groups of which each can be converted at once.
func grouped(all []*cache.Object) (groups [][]*cache.Object) {
	start, size := 0, 0
	for i, object := range all {
		if size += len(object.Text()); i > start && (i-start == broughtTogether || size > broughtBytes) {
			groups = append(groups, all[start:i])
			start, size = i, len(object.Text())
		}
	}
	if start < len(all) {
		groups = append(groups, all[start:])
	}
	return groups
}

// bringGroup brings over the owners of some objects. It asks who converts them for as long as one context lasts, and
// does the rest for as long as the other does.
func (b *bringer) bringGroup(ctx, asking context.Context, all []*cache.Object) error {
	var subjects []*subject
	for _, object := range all {
		if s := b.subject(object); s != nil {
			subjects = append(subjects, s)
		} else {
			b.leave(placeOf(object), nil, nil)
		}
	}
	b.show(asking, subjects)
	var group errgroup.Group
	group.SetLimit(reownedAtOnce)
	for _, s := range subjects {
		group.Go(func() error { return b.reown(ctx, asking, s) })
	}
	return group.Wait()
}

// subject is an object of which some entries are brought over.
type subject struct {
	object *cache.Object
	parsed apply.Object
	ways   []*way // of each entry, nil for those that stay
	// shown is the object by version.
	shown map[string]shown
}

// shown is an object at a version, or why it can't be had there.
type shown struct {
	doc document.Value
	err error
}

// subject returns an object whose owners are to be brought over; nil if they need not be, or if nobody can read them.
func (b *bringer) subject(object *cache.Object) *subject {
	parsed, err := b.objects.Parsed(object)
	if err != nil {
		return nil
	}
	s := &subject{object: object, parsed: parsed, ways: make([]*way, len(parsed.Entries)), shown: map[string]shown{}}
	isNeeded := false
	for i, entry := range parsed.Entries {
		if s.ways[i] = b.wayOf(placeOf(object), s.uid(), entry); s.ways[i] != nil {
			isNeeded = true
		}
	}
	if !isNeeded {
		return nil
	}
	return s
}

// placeOf tells an object apart from others of its kind.
func placeOf(object *cache.Object) cache.Key {
	return cache.Key{Namespace: object.Namespace(), Name: object.Name()}
}

func (s *subject) uid() string { return s.parsed.Document.Lookup("metadata", "uid").Text() }

// isAt reports whether the object is stored at a version, so that nobody has to convert it.
func (s *subject) isAt(version string) bool {
	return path.Base(s.parsed.Document.Get("apiVersion").Text()) == version
}

// show gets objects at the versions that entries come to.
func (b *bringer) show(ctx context.Context, subjects []*subject) {
	asked := map[string][]*subject{}
	for _, s := range subjects {
		for _, w := range s.ways {
			if w == nil {
				continue
			}
			if _, ok := s.shown[w.to]; ok {
				continue
			}
			if s.isAt(w.to) {
				s.shown[w.to] = b.showStored(s, w.to)
				continue
			}
			s.shown[w.to] = shown{}
			asked[w.to] = append(asked[w.to], s)
		}
	}
	for _, version := range slices.Sorted(maps.Keys(asked)) {
		b.ask(ctx, asked[version], version)
	}
}

func (b *bringer) showStored(s *subject, version string) shown {
	doc, err := b.now.At(s.parsed.Document, version)
	return shown{doc, err}
}

// ask has objects converted to a version. Who refuses one may convert the next, but who does not answer is not asked again.
func (b *bringer) ask(ctx context.Context, all []*subject, version string) {
	for len(all) > 0 {
		if down := b.down.Load(); down != nil {
			for _, s := range all {
				s.shown[version] = shown{err: *down}
			}
			return
		}
		docs := make([]document.Value, len(all))
		for i, s := range all {
			docs[i] = s.parsed.Document
		}
		converted, err := b.now.allAt(ctx, docs, version)
		for i, doc := range converted {
			all[i].shown[version] = shown{doc: doc}
		}
		all = all[len(converted):]
		switch {
		case err == nil:
			return
		case isUnanswered(err):
			b.down.Store(&err)
		default:
			all[0].shown[version] = shown{err: err}
			all = all[1:]
		}
	}
}

// reown writes the owners of an object as they are brought over. The server itself may write to it meanwhile, users may
// if they are not held, or delete it: then it looks again.
func (b *bringer) reown(ctx, asking context.Context, s *subject) error {
	key := placeOf(s.object)
	for s != nil {
		if err := ctx.Err(); err != nil {
			return err
		}
		entries, left, why := b.entries(s)
		err := b.write(ctx, s, entries)
		if err == nil {
			b.leave(key, s.arrear(left), why)
			return nil
		}
		if isRace(err) {
			if s, err = b.again(ctx, asking, s); err == nil {
				continue
			}
		}
		b.leave(key, s.arrear(s.allEntries()), err)
		return ctx.Err()
	}
	b.leave(key, nil, nil)
	return nil
}

// write writes entries of an object, unless they are as they were. The rest of it is as it was stored, whatever the
// definition says now: so that this is seen, nobody knows of any object for a while that it is as it is shown.
func (b *bringer) write(ctx context.Context, s *subject, entries []apply.Entry) error {
	if slices.Equal(entries, s.parsed.Entries) {
		return nil
	}
	b.now.since.Store(math.MaxInt64)
	return b.objects.Reown(ctx, s.object, s.parsed, entries)
}

// again returns an object as it has become; nil if nothing is to be done about it any more.
func (b *bringer) again(ctx, asking context.Context, s *subject) (*subject, error) {
	key := placeOf(s.object)
	key.Kind = b.kind.StoreName()
	object, err := b.objects.Cache.Get(ctx, key, cache.Latest)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return s, err
	}
	changed := b.subject(object)
	if changed != nil {
		b.show(asking, []*subject{changed})
	}
	return changed, nil
}

// leave notes which entries of an object could not be brought over, and why; nil says that there are none.
func (b *bringer) leave(key cache.Key, left *arrear, why error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if left == nil {
		delete(b.left, key)
		return
	}
	if !b.past.isOver() { // later it is tried again and again
		b.objects.Metrics.ManagedFields(metrics.Kept, len(left.Entries))
	}
	b.left[key], b.why = *left, why
}

// arrear is what is noted of an object of which entries are left; nil if none are.
func (s *subject) arrear(left []arrearsEntry) *arrear {
	if len(left) == 0 {
		return nil
	}
	return &arrear{Namespace: s.object.Namespace(), Name: s.object.Name(), UID: s.uid(), Entries: left}
}

// allEntries returns all that were to be brought over.
func (s *subject) allEntries() (all []arrearsEntry) {
	for i, w := range s.ways {
		if w != nil {
			all = append(all, newArrearsEntry(s.parsed.Entries[i], w.generation))
		}
	}
	return all
}

// entries returns those of an object as the definition has them now. What can't be brought over stays as it is; it is
// left if that may be possible later.
func (b *bringer) entries(s *subject) (entries []apply.Entry, left []arrearsEntry, why error) {
	for i, entry := range s.parsed.Entries {
		w := s.ways[i]
		if w == nil {
			entries = append(entries, entry)
			continue
		}
		at := s.shown[w.to]
		if isUnanswered(at.err) {
			left, why = append(left, newArrearsEntry(entry, w.generation)), at.err
		}
		if brought, ok := w.entry(entry, at); ok {
			entries = append(entries, brought)
		}
	}
	return joined(entries), left, why
}

// entry returns an entry at the end of its way; ok is false if it owns nothing there. If that can't be told, it stays
// as it is.
func (w *way) entry(entry apply.Entry, at shown) (_ apply.Entry, ok bool) {
	if at.err != nil {
		return entry, true
	}
	brought, ok, err := w.bring(entry, at.doc)
	if err != nil {
		return entry, true
	}
	return brought, ok
}
