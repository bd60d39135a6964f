package custom

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/store"
)

// formers is what former definitions are called in keys. They are kept beside all kinds, and are not served: each is
// written in the commit that puts another in its place, and goes when no entry in any object is as it had it. So
// whoever brings owners over looks there for what is to be done, whether the definition has just changed, was not
// served meanwhile, or the server was started again.
const formers = "cadastre/formerdefinitions"

// keepFormer returns the write that keeps a definition which another takes the place of, if that may have objects merge
// otherwise, or is not served, so that others may follow which do.
func keepFormer(obj, live document.Value) []store.Write {
	if obj.IsAbsent() || live.IsAbsent() {
		return nil
	}
	old, now := read(live), read(obj)
	switch {
	case len(old.served()) == 0:
		return nil // nobody has written by it, nor brought owners over to it: what was last served is kept
	case len(now.served()) > 0 && !mergeOtherwise(old, now):
		return nil
	}
	key := cache.Key{Kind: formers, Name: fmt.Sprintf("%s.%d", old.uid, old.generation)}
	kept := document.NewMap(
		document.Field{Name: "definition", Value: live},
		document.Field{Name: "metadata", Value: document.NewMap(document.Field{Name: "name", Value: document.NewString(key.Name)})},
	)
	return []store.Write{{Key: key.String(), Value: []byte(kept.JSON())}}
}

// mergeOtherwise reports whether what a definition has become lacks a version that it had, or has another schema at
// some version.
func mergeOtherwise(old, now *reading) bool {
	for _, was := range old.versions {
		i := slices.IndexFunc(now.versions, func(v versionReading) bool { return v.name == was.name })
		if i < 0 || !document.Equal(was.schema, now.versions[i].schema) {
			return true
		}
	}
	return false
}

// former is a definition that another has taken the place of. How it merged is all that it is good for: it converts
// nothing.
type former struct {
	*definition
	object *cache.Object
}

// past is what is kept of what a definition was before.
type past struct {
	formers []former // the oldest first
	arrears arrears
}

// listKept returns what is kept of a definition, by its uid, as one kind of record; "" says of all. Others may be many,
// and are not read.
func (c *Controller) listKept(ctx context.Context, kind, uid string) ([]*cache.Object, error) {
	selection := cache.Selection{Kind: kind}
	if uid != "" {
		selection.Match = func(object *cache.Object) bool { return definitionOf(object) == uid }
	}
	list, err := c.Objects.Cache.List(ctx, cache.Query{Selection: selection, Freshness: cache.Latest})
	if err != nil {
		return nil, err
	}
	return list.Objects, nil
}

// definitionOf returns the uid of the definition that a record is kept of.
func definitionOf(record *cache.Object) (uid string) {
	uid, _, _ = strings.Cut(record.Name(), ".")
	return uid
}

// keptPasts returns what is kept of a definition, by its uid, or of all if that is "". What can't be read is of no use
// to anybody.
func (c *Controller) keptPasts(ctx context.Context, uid string) (map[string]past, error) {
	kept, err := c.listKept(ctx, formers, uid)
	if err != nil {
		return nil, err
	}
	all := map[string]past{}
	for _, object := range kept {
		r, err := readSealed(object, "definition")
		if err != nil {
			c.Log.Error("cannot read what a CustomResourceDefinition was before, so that some may own too little in its objects", "key", object.Key(), "error", err)
			continue
		}
		p := all[r.uid]
		p.formers = append(p.formers, former{newDefinition(r, nil, nil), object})
		all[r.uid] = p
	}
	for _, p := range all {
		slices.SortFunc(p.formers, func(a, b former) int { return cmp.Compare(a.generation, b.generation) })
	}
	return all, c.readArrears(ctx, uid, all)
}

// pastOf returns what is kept of what was before a definition.
func (c *Controller) pastOf(ctx context.Context, d *definition) (past, error) {
	if d.generation <= 1 {
		return past{}, nil // it is as it was created
	}
	all, err := c.keptPasts(ctx, d.uid)
	return all[d.uid].before(d.generation), err
}

// before leaves out what was not before a generation: a definition that has changed again is another one's past.
func (p past) before(generation int64) past {
	n := slices.IndexFunc(p.formers, func(f former) bool { return f.generation >= generation })
	if n >= 0 {
		p.formers = p.formers[:n]
	}
	return p
}

// isOver reports whether all entries that are not in arrears are as the definition has them.
func (p past) isOver() bool {
	return len(p.formers) == 0 || p.formers[len(p.formers)-1].generation < p.arrears.generation
}

// since returns what a definition was from a generation on, the oldest first.
func (p past) since(generation int64) []former {
	n := slices.IndexFunc(p.formers, func(f former) bool { return f.generation >= generation })
	if n < 0 {
		return nil
	}
	return p.formers[n:]
}

// discard lets go of all that is kept of a definition that is gone.
func (c *Controller) discard(ctx context.Context, p past) {
	kept := slices.Clone(p.arrears.records)
	for _, one := range p.formers {
		kept = append(kept, one.object)
	}
	for _, object := range kept {
		_, _, err := c.Objects.Cache.Commit(ctx, store.Write{Key: object.Key(), Expected: object.Revision()})
		if err != nil && !isRace(err) && ctx.Err() == nil {
			c.Log.Error("cannot let go of what a CustomResourceDefinition was before", "key", object.Key(), "error", err)
		}
	}
}

// discardOf lets go of all that is kept of a definition that is gone, by its uid.
func (c *Controller) discardOf(ctx context.Context, uid string) {
	all, err := c.keptPasts(ctx, uid)
	if err != nil {
		c.Log.Error("cannot let go of what a CustomResourceDefinition was before", "uid", uid, "error", err)
		return
	}
	c.discard(ctx, all[uid])
}
