package custom

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/kinds"
	"github.com/cadastre/cadastre/internal/store"
)

// formers is what former definitions are called in keys. They are kept beside all kinds, and are not served: each is written in the
// commit that puts another in its place, and goes when the owners in all objects are as that one has them. So a server that ends
// before, by itself or not, knows when it is back how objects were merged, and goes on.
const formers = "cadastre/formerdefinitions"

// keepFormer returns the write that keeps a definition which another takes the place of, if that may have objects merge otherwise.
func keepFormer(obj, live document.Value) []store.Write {
	if obj.IsAbsent() || live.IsAbsent() {
		return nil
	}
	old := read(live)
	if !mergeOtherwise(old, read(obj)) {
		return nil
	}
	key := cache.Key{Kind: formers, Name: fmt.Sprintf("%s.%d", old.uid, old.generation)}
	kept := document.NewMap(
		document.Field{Name: "definition", Value: live},
		document.Field{Name: "metadata", Value: document.NewMap(document.Field{Name: "name", Value: document.NewString(key.Name)})},
	)
	return []store.Write{{Key: key.String(), Value: []byte(kept.JSON())}}
}

// mergeOtherwise reports whether what a definition has become lacks a version that it had, or has another schema at some version.
func mergeOtherwise(old, now *reading) bool {
	for _, was := range old.versions {
		i := slices.IndexFunc(now.versions, func(v versionReading) bool { return v.name == was.name })
		if i < 0 || !document.Equal(was.schema, now.versions[i].schema) {
			return true
		}
	}
	return false
}

// former is a definition that another has taken the place of.
type former struct {
	*reading
	object *cache.Object
}

// formersOf returns the former definitions that are kept, by uid, the oldest first. What can't be read is of no use to anybody.
func (c *Controller) formersOf(ctx context.Context) (map[string][]former, error) {
	list, err := c.Objects.Cache.List(ctx, cache.Query{Selection: cache.Selection{Kind: formers}, Freshness: cache.Latest})
	if err != nil {
		return nil, err
	}
	all := map[string][]former{}
	for _, object := range list.Objects {
		r, err := readSealed(object, "definition")
		if err != nil {
			c.Log.Error("cannot read what a CustomResourceDefinition was before, so that some may own too little in its objects", "key", object.Key(), "error", err)
			continue
		}
		all[r.uid] = append(all[r.uid], former{r, object})
	}
	for _, of := range all {
		slices.SortFunc(of, func(a, b former) int { return cmp.Compare(a.generation, b.generation) })
	}
	return all, nil
}

// forget lets go of what a definition was before a generation.
func (c *Controller) forget(ctx context.Context, uid string, generation int64) {
	all, err := c.formersOf(ctx)
	for _, one := range all[uid] {
		if one.generation >= generation || err != nil {
			break
		}
		_, _, err = c.Objects.Cache.Commit(ctx, store.Write{Key: one.object.Key(), Expected: one.object.Revision()})
	}
	if err != nil && !isRace(err) && ctx.Err() == nil {
		c.Log.Error("cannot let go of what a CustomResourceDefinition was before", "uid", uid, "error", err)
	}
}

// forgetBefore lets go of what was before a kind.
func (c *Controller) forgetBefore(ctx context.Context, kind *kinds.Kind) {
	of := kind.Definition.(*definition)
	c.forget(ctx, of.uid, of.generation)
}

// unfinished is a kind whose owners were not all brought over when a server ended. Users do not write, but for deletions,
// until that was tried again.
type unfinished struct {
	kind    *kinds.Kind
	before  []*kinds.Kind // the oldest first
	release func()
}

// resume notes that a kind is unfinished, if definitions are kept that it has taken the place of.
func (c *Controller) resume(kind *kinds.Kind, kept []former) (isUnfinished bool) {
	u := unfinished{kind: kind}
	for _, one := range kept {
		if one.generation < kind.Definition.(*definition).generation {
			u.before = append(u.before, c.kindOf(&defined{reading: one.reading}, nil))
		}
	}
	if len(u.before) == 0 {
		return false
	}
	u.release = kind.Uses.Hold()
	c.unfinished = append(c.unfinished, u)
	return true
}

// finish brings owners over that were not when a server ended, from one definition to the next.
func (c *Controller) finish(ctx context.Context, u unfinished) {
	defer u.release()
	for i, before := range u.before {
		next := u.kind
		if i+1 < len(u.before) {
			next = u.before[i+1]
		}
		if !c.bringOwners(ctx, before, next) {
			u.kind.Definition.(*definition).isBehind.Store(true)
			return
		}
	}
	c.forgetBefore(ctx, u.kind)
	c.settled(ctx, u.kind)
}
