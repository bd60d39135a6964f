package objects

import (
	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cache"
)

// At returns an object as an endpoint shows it: at its version, or as a scale.
func (o *Objects) At(e *Endpoint, object *cache.Object) (*cache.Object, error) {
	if e.form == nil || e.Subresource != scale && e.isAt(object) {
		return object, nil
	}
	shown, err := object.As(e.form)
	if err != nil {
		return nil, err
	}
	return shown.(*cache.Object), nil
}

// isAt reports whether an object that may be older than its definition is stored as it is shown here. Nobody knows of one that is being
// deleted: it was marked as it was, since that must not fail for want of somebody who converts it.
func (e *Endpoint) isAt(object *cache.Object) bool {
	return e.evolving != nil && !object.IsDeleting() && e.evolving.IsAt(object.Written(), e.Version)
}

// objectAt returns an object at the version of an endpoint, also where the endpoint shows something else.
func (o *Objects) objectAt(e *Endpoint, object *cache.Object) (*cache.Object, error) {
	if e.evolving == nil || e.isAt(object) {
		return object, nil
	}
	shown, err := object.As(e.objectForm)
	if err != nil {
		return nil, err
	}
	return shown.(*cache.Object), nil
}

// together is how many objects are shown at once at most, and togetherBytes how large they may be: a webhook that converts them
// has half a minute for all.
const (
	together      = 100
	togetherBytes = 1 << 20
)

// AllAt returns objects as an endpoint shows them: those before the first that can't be shown, and why it can't.
func (o *Objects) AllAt(e *Endpoint, all []*cache.Object) ([]*cache.Object, error) {
	if e.form == nil {
		return all, nil
	}
	shown := make([]*cache.Object, 0, len(all))
	for len(shown) < len(all) {
		lacking, count := e.nextLacking(all[len(shown):])
		made, failed := o.showTogether(e, lacking)
		for _, object := range all[len(shown) : len(shown)+count] {
			isNext := len(lacking) > 0 && object == lacking[0]
			if isNext {
				lacking = lacking[1:]
			}
			switch {
			case isNext && len(made) > 0:
				shown, made = append(shown, made[0]), made[1:]
				continue
			case isNext && failed != nil:
				return shown, failed
			}
			at, err := o.At(e, object)
			if err != nil {
				return shown, err
			}
			shown = append(shown, at)
		}
	}
	return shown, nil
}

// nextLacking returns which of the next objects have to be made into what is shown, and how many objects these are of.
func (e *Endpoint) nextLacking(all []*cache.Object) (lacking []*cache.Object, count int) {
	size := 0
	for i, object := range all {
		if e.evolving == nil || e.isAt(object) || !object.Lacks(e.form) {
			continue
		}
		if size += len(object.Text()); len(lacking) == together || len(lacking) > 0 && size > togetherBytes {
			return lacking, i
		}
		lacking = append(lacking, object)
	}
	return lacking, len(all)
}

// showTogether shows objects whose definition may have to ask somebody else about them. It returns those before the first
// that can't be shown, and why that can't; nothing at all leaves them to At.
func (o *Objects) showTogether(e *Endpoint, all []*cache.Object) (shown []*cache.Object, err error) {
	if len(all) < 2 || e.Subresource == scale {
		return nil, nil
	}
	stored, docs := make([]apply.Object, len(all)), make([]document.Value, len(all))
	for i, object := range all {
		if stored[i], err = o.parsed(object); err != nil {
			return nil, nil
		}
		docs[i] = stored[i].Document
	}
	docs, failed := e.evolving.AllAt(docs, e.Version)
	for i, doc := range docs {
		draft, err := o.draft(all[i], apply.Object{Document: doc, Entries: stored[i].Entries})
		if err != nil {
			return shown, err
		}
		all[i].Keep(e.form, draft, len(draft.Text()))
		shown = append(shown, draft)
	}
	return shown, failed
}
