package builtin

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/api/builtin/kinds"
	"github.com/cadastre/cadastre/schema"
)

// oneOf is a set of fields of a struct of which only one may be there. If there is a discriminator, that
// field says which: a member is there only if the discriminator has its value.
type oneOf struct {
	members []string
	// others are the fields that are no members, where these are named.
	others        []string
	discriminator string
	values        []string // for each member, if there is a discriminator
}

// builtinOneOfs holds the one-ofs of structs in built-in kinds. They are read at the first call.
var builtinOneOfs = sync.OnceValue(func() map[*Type][]oneOf {
	all, err := builtin().readOneOfs(kinds.Builtin())
	if err != nil {
		panic(err) // a test reads the kind files
	}
	return all
})

// readOneOfs reads the sections of one-ofs of kind files.
func (t *table) readOneOfs(set *kinds.Set) (map[*Type][]oneOf, error) {
	all := map[*Type][]oneOf{}
	return all, t.eachRule(set, kinds.OneOfs, func(of *Type, words []string) error {
		set, err := parseOneOf(of, words)
		all[of] = append(all[of], set)
		return err
	})
}

func parseOneOf(t *Type, words []string) (set oneOf, err error) {
	switch {
	case words[0] == "by" && len(words) > 2:
		set.discriminator = words[1]
		for _, word := range words[2:] {
			value, member, _ := strings.Cut(word, "=")
			set.members, set.values = append(set.members, member), append(set.values, value)
		}
	case words[0] == "all" && (len(words) == 1 || len(words) > 2 && words[1] == "except"):
		words = words[min(2, len(words)):]
		for _, f := range t.Fields {
			if !slices.Contains(words, f.Name) {
				set.members = append(set.members, f.Name)
			}
		}
		set.others = words
	default:
		set.members = words
	}
	for _, name := range slices.Concat(set.members, set.named(words)) {
		if _, ok := t.Field(name); !ok {
			return set, fmt.Errorf("expected the name of a field, received %q", name)
		}
	}
	return set, nil
}

// named returns the fields that are named in a line, and are no members.
func (o *oneOf) named(words []string) []string {
	if o.discriminator != "" {
		return []string{o.discriminator}
	}
	return words
}

// has reports whether a field is a member.
func (o *oneOf) has(name string) bool {
	if len(o.others) > 0 {
		return !slices.Contains(o.others, name)
	}
	return slices.Contains(o.members, name)
}

// OneOfs is where a kind has one-ofs that several managers can fill, compiled so that looking for clashes
// looks at nothing else. Nil is a kind without any.
type OneOfs struct {
	here   []oneOf
	inside []oneOfsInside // sorted by name
}

// oneOfsInside is a field with one-ofs in it: in it, or in the items of the list that it is, which have keys.
type oneOfsInside struct {
	name string
	keys []schema.Key
	in   *OneOfs
}

// OneOfs compiles the one-ofs of a type. Topology says what managers can write together.
func (t *Type) OneOfs(topology *schema.Type) *OneOfs {
	c := oneOfCompiler{declared: builtinOneOfs(), known: map[sharedType]*OneOfs{}}
	return c.compile(t, topology)
}

type oneOfCompiler struct {
	declared map[*Type][]oneOf
	known    map[sharedType]*OneOfs
}

// sharedType is a type in a place where it merges in a certain way.
type sharedType struct {
	t        *Type
	topology *schema.Type
}

func (c *oneOfCompiler) compile(t *Type, topology *schema.Type) *OneOfs {
	if t.Kind != Struct || topology == nil || topology.Map == nil || topology.Map.Atomic {
		return nil
	}
	at := sharedType{t, topology}
	if known, ok := c.known[at]; ok {
		return known
	}
	all := &OneOfs{here: c.declared[t]}
	c.known[at] = all // for types that are in themselves
	for i := range t.Fields {
		f := &t.Fields[i]
		below, inside := topologyOf(topology.Map, f.Name), oneOfsInside{name: f.Name}
		if f.Type.Kind == List && below != nil && below.List != nil && below.List.Relationship == schema.Keyed {
			inside.keys, inside.in = below.List.Keys, c.compile(f.Type.Elem, below.List.Item)
		} else {
			inside.in = c.compile(f.Type, below)
		}
		if inside.in != nil {
			all.inside = append(all.inside, inside)
		}
	}
	if len(all.here)+len(all.inside) == 0 {
		c.known[at] = nil
		return nil
	}
	return all
}

// Clash is a one-of of which two members are there: one that an applier set, and one that was there
// before.
type Clash struct {
	// Path is the struct that they are in.
	Path fieldset.Path
	// Applied is the field that the applier set, Sibling the one that excludes it.
	Applied, Sibling string
	// Discriminator is the field that says which member there may be, empty if there is none. It is
	// either Applied or Sibling, whichever is no member, and goes with the member if it has Value.
	Discriminator, Value string
}

// Clashes returns the one-ofs of which a configuration sets a member, where what came of it has another
// one that is not the configuration's.
func (o *OneOfs) Clashes(config, merged document.Value) []Clash {
	var w clashWalker
	w.fields(o, config, merged)
	for i := range w.found {
		slices.Reverse(w.found[i].Path)
	}
	return w.found
}

// clashWalker walks a configuration beside what came of it. Paths are made on the way out, from their ends,
// so that only those who have a clash pay for them.
type clashWalker struct{ found []Clash }

func (w *clashWalker) fields(o *OneOfs, config, merged document.Value) {
	if o == nil || config.Kind() != document.Map || merged.Kind() != document.Map {
		return
	}
	for i := range o.here {
		w.check(&o.here[i], config, merged)
	}
	next := 0 // of the configuration's fields
	for i := range o.inside {
		inside := &o.inside[i]
		for next < config.Len() && config.Name(next) < inside.name {
			next++
		}
		if next == config.Len() {
			return
		}
		if config.Name(next) != inside.name {
			continue
		}
		known, part := len(w.found), config.At(next)
		if inside.keys == nil {
			w.fields(inside.in, part, merged.Get(inside.name))
		} else {
			w.items(inside, part, merged.Get(inside.name))
		}
		for ; known < len(w.found); known++ {
			w.found[known].Path = append(w.found[known].Path, fieldset.NameElement(inside.name))
		}
	}
}

func (w *clashWalker) items(inside *oneOfsInside, config, merged document.Value) {
	if config.Kind() != document.List || merged.Kind() != document.List {
		return
	}
	for i := range config.Len() {
		item, known := config.At(i), len(w.found)
		at := keyedPlace(inside.keys, merged, item, i)
		if at < 0 {
			continue
		}
		w.fields(inside.in, item, merged.At(at))
		for ; known < len(w.found); known++ {
			w.found[known].Path = append(w.found[known].Path, keysElement(inside.keys, item))
		}
	}
}

// keysElement is an item in a path.
func keysElement(keys []schema.Key, item document.Value) fieldset.Element {
	fields := make([]fieldset.KeyField, 0, len(keys))
	for _, key := range keys {
		value := item.Get(key.Name)
		if value.IsAbsent() {
			value = key.Default
		}
		fields = append(fields, fieldset.KeyField{Name: key.Name, Value: value})
	}
	return fieldset.KeyElement(fields...)
}

// check looks for members that are there beside those of the configuration.
func (w *clashWalker) check(set *oneOf, config, merged document.Value) {
	if set.discriminator != "" {
		w.checkDiscriminated(set, config, merged)
		return
	}
	there := 0
	for i := range merged.Len() {
		if set.has(merged.Name(i)) {
			there++
		}
	}
	if there < 2 {
		return
	}
	applied := slices.IndexFunc(set.members, func(name string) bool { return isMember(config.Get(name)) })
	if applied < 0 {
		return
	}
	for _, name := range set.members {
		if isMember(merged.Get(name)) && config.Get(name).IsAbsent() {
			w.found = append(w.found, Clash{Applied: set.members[applied], Sibling: name})
		}
	}
}

func (w *clashWalker) checkDiscriminated(set *oneOf, config, merged document.Value) {
	kind := merged.Get(set.discriminator)
	if kind.Kind() != document.String {
		return // which is yet to get its default
	}
	for i, name := range set.members {
		if kind.Text() == set.values[i] || !isMember(merged.Get(name)) {
			continue
		}
		clash := Clash{Discriminator: set.discriminator, Value: set.values[i]}
		switch setsKind, setsMember := isMember(config.Get(set.discriminator)), isMember(config.Get(name)); {
		case setsKind && config.Get(name).IsAbsent():
			clash.Applied, clash.Sibling = set.discriminator, name
		case setsMember && !setsKind:
			clash.Applied, clash.Sibling = name, set.discriminator
		default:
			continue
		}
		w.found = append(w.found, clash)
	}
}

// isMember reports whether a field counts as being there: what is empty in Go does not, nor what a
// configuration unsets.
func isMember(v document.Value) bool {
	switch v.Kind() {
	case document.Absent, document.Null:
		return false
	case document.String:
		return v.Text() != ""
	case document.Bool:
		return v.Bool()
	case document.Map:
		return v.Get(apply.UnsetMarkerKey).IsAbsent()
	}
	return true
}
