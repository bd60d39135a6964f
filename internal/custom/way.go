package custom

import (
	"path"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/schema"
)

// way is how an entry comes from the definition as which it is to the one that is there now.
type way struct {
	// generation is that of the definition as which the entry is.
	generation int64
	from, to   string // versions
	// topologies are how its version merged, one after the other, and how the version that it comes to merges now.
	// Somebody may have brought the entry as far as any of them.
	topologies []*schema.Type
}

// wayOf returns how an entry of an object is brought over; nil if it stays as it is.
func (b *bringer) wayOf(key cache.Key, uid string, entry apply.Entry) *way {
	generation, ok := b.past.arrears.generationOf(key, uid, entry)
	if !ok {
		generation = b.past.arrears.generation
	}
	version := path.Base(entry.APIVersion)
	if entry.APIVersion != b.now.group+"/"+version {
		return nil
	}
	since := b.past.since(generation)
	w := &way{generation: generation, from: version, to: b.target(version, since)}
	if w.to == "" {
		return nil
	}
	w.topologies = b.topologies(version, w.to, since)
	if len(w.topologies) < 2 {
		return nil
	}
	w.generation = since[0].generation
	return w
}

// topologies returns how a version merged in definitions, and how another one does now. What is as it was before is
// left out, so that there is only one if nothing has changed.
func (b *bringer) topologies(from, to string, since []former) (all []*schema.Type) {
	var last document.Value
	add := func(d *definition, version string, isOther bool) {
		v := d.at(version)
		if v == nil || len(all) > 0 && !isOther && document.Equal(v.schema, last) {
			return
		}
		if t, ok := d.Topology(version); ok {
			all, last = append(all, t), v.schema
		}
	}
	for _, one := range since {
		add(one.definition, from, false)
	}
	if len(all) > 0 {
		add(b.now, to, from != to)
	}
	return all
}

// bring returns an entry at the end of its way. The document is the object there. ok is false if the entry owns nothing
// there.
func (w *way) bring(entry apply.Entry, doc document.Value) (_ apply.Entry, ok bool, err error) {
	for i, now := range w.topologies[1:] {
		if entry, err = bring(entry, w.topologies[i], now, doc); err != nil {
			return entry, false, err
		}
	}
	if w.from == w.to {
		return entry, true, nil
	}
	return retired(entry, doc, w.topologies[len(w.topologies)-1])
}
