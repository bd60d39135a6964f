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

// oneOf is a union: a set of fields of a struct, its members, of which at most one may be set. If the union has a
// discriminator, a member may be set only if the discriminator has the member's value.
type oneOf struct {
	members []string
	// others are the fields of the struct that are not members of the union. It is set only if the union is declared as "all
	// except FIELD…".
	others        []string
	discriminator string   // discriminator is the name of the discriminator; "" if there is none.
	values        []string // values are the discriminator's values for the members; nil without a discriminator.
}

// builtinOneOfs returns a map from structs of the built-in kinds to their unions, which are parsed on first use.
var builtinOneOfs = sync.OnceValue(func() map[*Type][]oneOf {
	all, err := builtin().readOneOfs(kinds.Builtin())
	if err != nil {
		panic(err) // unreachable: the kind files are embedded, and a test parses all of them
	}
	return all
})

// readOneOfs parses the sections "one-ofs" of all kind files.
func (t *table) readOneOfs(set *kinds.Set) (map[*Type][]oneOf, error) {
	all := map[*Type][]oneOf{}
	return all, t.forEachRule(set, kinds.OneOfs, func(of *Type, words []string) error {
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
	for _, name := range slices.Concat(set.members, set.nonMembers(words)) {
		if _, ok := t.Field(name); !ok {
			return set, fmt.Errorf("expected the name of a field, received %q", name)
		}
	}
	return set, nil
}

// nonMembers returns the fields in words, the declaration of a union, that must not be members: the discriminator, or the
// fields after the keyword "except".
func (o *oneOf) nonMembers(words []string) []string {
	if o.discriminator != "" {
		return []string{o.discriminator}
	}
	return words
}

// hasMember reports whether the field with the given name is a member of o.
func (o *oneOf) hasMember(name string) bool {
	if len(o.others) > 0 {
		return !slices.Contains(o.others, name)
	}
	return slices.Contains(o.members, name)
}

// OneOfs holds the unions of a struct, and of the structs inside it, of which different field managers can own different
// members. It contains only the fields on the paths to unions, so that Clashes visits no other fields. Nil means that there
// are no unions.
type OneOfs struct {
	local  []oneOf        // local contains the unions of the struct itself.
	nested []nestedOneOfs // nested contains the fields with unions inside them, sorted by name.
}

// nestedOneOfs is a field with unions inside it: in its value, or, if keys is not nil, in the items of a list of type map.
type nestedOneOfs struct {
	name string
	keys []schema.Key
	in   *OneOfs
}

// OneOfs returns the unions of a type. Unions inside atomic values of the topology are omitted, because an atomic value, with
// all members of its unions, is owned as a whole.
func (t *Type) OneOfs(topology *schema.Type) *OneOfs {
	c := oneOfCompiler{declared: builtinOneOfs(), known: map[mergedType]*OneOfs{}}
	return c.compile(t, topology)
}

type oneOfCompiler struct {
	declared map[*Type][]oneOf
	known    map[mergedType]*OneOfs
}

// mergedType is a type with a topology. Fields of the same type may have different topologies.
type mergedType struct {
	t        *Type
	topology *schema.Type
}

func (c *oneOfCompiler) compile(t *Type, topology *schema.Type) *OneOfs {
	if t.Kind != Struct || topology == nil || topology.Map == nil || topology.Map.Atomic {
		return nil
	}
	at := mergedType{t, topology}
	if known, ok := c.known[at]; ok {
		return known
	}
	all := &OneOfs{local: c.declared[t]}
	c.known[at] = all // set before the recursion, because types can be recursive
	for i := range t.Fields {
		f := &t.Fields[i]
		below, nested := topologyOf(topology.Map, f.Name), nestedOneOfs{name: f.Name}
		if f.Type.Kind == List && below != nil && below.List != nil && below.List.Relationship == schema.Keyed {
			nested.keys, nested.in = below.List.Keys, c.compile(f.Type.Elem, below.List.Item)
		} else {
			nested.in = c.compile(f.Type, below)
		}
		if nested.in != nil {
			all.nested = append(all.nested, nested)
		}
	}
	if len(all.local)+len(all.nested) == 0 {
		c.known[at] = nil
		return nil
	}
	return all
}

// Clash is a union of which two members are set after an apply: the apply configuration sets one member, and the second member
// was set before the apply.
type Clash struct {
	// Path is the path of the struct that contains the union.
	Path fieldset.Path
	// Applied is the field that the apply configuration sets. Sibling is the field that was set before the apply and conflicts
	// with Applied.
	Applied, Sibling string
	// Discriminator is the discriminator of the union; "" if there is none. It equals Applied or Sibling; the other of these two
	// fields is a member that is allowed only if the discriminator is Value.
	Discriminator, Value string
}

// Clashes returns the unions of which config, an apply configuration, sets a member, and merged, the merged object, contains
// another member that config does not set.
func (o *OneOfs) Clashes(config, merged document.Value) []Clash {
	var w clashWalker
	w.fields(o, config, merged)
	for i := range w.found {
		slices.Reverse(w.found[i].Path)
	}
	return w.found
}

// clashWalker is the state of Clashes, which walks an apply configuration and the merged object in parallel. The paths of
// clashes are built in reverse order while the recursion returns, so an apply without clashes builds no paths.
type clashWalker struct{ found []Clash }

func (w *clashWalker) fields(o *OneOfs, config, merged document.Value) {
	if o == nil || config.Kind() != document.Map || merged.Kind() != document.Map {
		return
	}
	for i := range o.local {
		w.addClashes(&o.local[i], config, merged)
	}
	next := 0 // index in config, whose fields are sorted by name
	for i := range o.nested {
		nested := &o.nested[i]
		for next < config.Len() && config.Name(next) < nested.name {
			next++
		}
		if next == config.Len() {
			return
		}
		if config.Name(next) != nested.name {
			continue
		}
		known, part := len(w.found), config.At(next)
		if nested.keys == nil {
			w.fields(nested.in, part, merged.Get(nested.name))
		} else {
			w.items(nested, part, merged.Get(nested.name))
		}
		for ; known < len(w.found); known++ {
			w.found[known].Path = append(w.found[known].Path, fieldset.NameElement(nested.name))
		}
	}
}

func (w *clashWalker) items(nested *nestedOneOfs, config, merged document.Value) {
	if config.Kind() != document.List || merged.Kind() != document.List {
		return
	}
	items := keyedItems{keys: nested.keys, list: merged}
	for i := range config.Len() {
		item, known := config.At(i), len(w.found)
		at := items.find(item, i)
		if at < 0 {
			continue
		}
		w.fields(nested.in, item, merged.At(at))
		for ; known < len(w.found); known++ {
			w.found[known].Path = append(w.found[known].Path, keysElement(nested.keys, item))
		}
	}
}

// keysElement returns the path element that identifies item, a list item, by its keys.
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

// addClashes adds a clash for each member of the union set that is in merged and not in config, if config contains another
// member.
func (w *clashWalker) addClashes(set *oneOf, config, merged document.Value) {
	if set.discriminator != "" {
		w.addDiscriminatorClashes(set, config, merged)
		return
	}
	count := 0
	for i := range merged.Len() {
		if set.hasMember(merged.Name(i)) {
			count++
		}
	}
	if count < 2 {
		return
	}
	applied := slices.IndexFunc(set.members, func(name string) bool { return isMemberSet(config.Get(name)) })
	if applied < 0 {
		return
	}
	for _, name := range set.members {
		if isMemberSet(merged.Get(name)) && config.Get(name).IsAbsent() {
			w.found = append(w.found, Clash{Applied: set.members[applied], Sibling: name})
		}
	}
}

func (w *clashWalker) addDiscriminatorClashes(set *oneOf, config, merged document.Value) {
	kind := merged.Get(set.discriminator)
	if kind.Kind() != document.String {
		return // the discriminator is absent, because defaults are set later
	}
	for i, name := range set.members {
		if kind.Text() == set.values[i] || !isMemberSet(merged.Get(name)) {
			continue
		}
		clash := Clash{Discriminator: set.discriminator, Value: set.values[i]}
		switch setsKind, setsMember := isMemberSet(config.Get(set.discriminator)), isMemberSet(config.Get(name)); {
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

// isMemberSet reports whether the value of a member counts as set. "", false, null and unset markers do not count as set.
func isMemberSet(v document.Value) bool {
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
