package ownership

import (
	"slices"
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/schema"
)

// Line is a line of an object as YAML, and who owns what it shows.
type Line struct {
	// Text is the line without its line break. Those that are Absent or Elsewhere are comments of YAML.
	Text string
	// Path is the field that the line shows, or shows a part of. An item of a list that nobody owns
	// anything of is shown by its index.
	Path fieldset.Path
	// Owners are all who own the field.
	Owners []apply.Entry
	// Item are the other owners of the item that starts in this line, if one does: they own that it is
	// there, but not its first field.
	Item []apply.Entry
	// State says what it means if there are no owners.
	State State
}

// State is what ownership means for a line.
type State uint8

// The states.
const (
	// Owned: somebody owns the field, and it has a value.
	Owned State = iota
	// Unowned: nobody owns it. Defaults that nobody asked for are like that.
	Unowned
	// Container: nobody owns it for itself; each part of it says by itself who owns it.
	Container
	// Fixed: nobody can own it, because it says which object this is, or the server keeps it.
	Fixed
	// Absent: somebody owns it, and it has no value.
	Absent
	// Elsewhere: it has no value here, and who owns it wrote at another version, where it may have one.
	Elsewhere
	// Uncertain: nobody owns it at this version, and it may be what somebody owns that is Elsewhere.
	Uncertain
)

// String returns the state in one word, such as unowned.
func (s State) String() string {
	names := [...]string{"owned", "unowned", "container", "fixed", "absent", "elsewhere", "uncertain"}
	if int(s) < len(names) {
		return names[s]
	}
	return "State(" + strconv.Itoa(int(s)) + ")"
}

// fixed are the fields that nobody can own.
var fixed = apply.NeverOwned()

// Blame returns an object as YAML, without managedFields, and the owners of every line.
//
// The topology decides which values are owned as a whole. Without one, nil, that is told from the sets: a
// value is owned in parts if somebody owns a part of it. That is the same, but for a map that somebody owns
// for being there while nobody owns anything in it.
//
// Entries of other versions than the object's own what has the same path at its version. Which field is which where the
// versions differ only the server knows, and it does not tell: what they own there is [Elsewhere], and the fields that it
// may be are [Uncertain]. Others are the object at the versions of such entries; without them every field that nobody
// owns is uncertain if something is elsewhere.
func Blame(o apply.Object, t *schema.Type, others ...document.Value) ([]Line, error) {
	b := blamer{entries: o.Entries, version: o.Document.Get("apiVersion").Text(), others: map[string]document.Value{}}
	for _, other := range others {
		b.others[other.Get("apiVersion").Text()] = other
	}
	root := place{value: o.Document, topology: t, sets: make([]fieldset.Set, len(o.Entries))}
	for i := range o.Entries {
		set, err := fieldsOf(o.Entries, i)
		if err != nil {
			return nil, err
		}
		root.sets[i] = set
		b.noticeElsewhere(o, i, set)
	}
	b.fields(root, 0)
	return b.lines, nil
}

// place is a value on the way through an object, with what all owners have there.
type place struct {
	path  fieldset.Path
	value document.Value
	// topology is nil if it is not known.
	topology *schema.Type
	// sets are the entries' sets below path, and members says whose set has path itself.
	sets    []fieldset.Set
	members []bool
}

// step returns the place that an element selects.
func (p place) step(e fieldset.Element, v document.Value, t *schema.Type) place {
	below := place{
		path: append(slices.Clip(p.path), e), value: v, topology: t,
		sets: make([]fieldset.Set, len(p.sets)), members: make([]bool, len(p.sets)),
	}
	for i, set := range p.sets {
		below.sets[i], below.members[i] = set.Below(e)
	}
	return below
}

// all returns what anybody owns below the place.
func (p place) all() fieldset.Set {
	var all fieldset.Set
	for _, set := range p.sets {
		all = all.Union(set)
	}
	return all
}

// isOwned reports whether anybody owns the place itself.
func (p place) isOwned() bool { return slices.Contains(p.members, true) }

// shape says how a value is shown.
type shape uint8

const (
	leaf    shape = iota // as one
	byField              // field by field
	byItem               // item by item
)

// shape decides by the topology, and without one by what is owned.
func (p place) shape(depth int) shape {
	if p.value.Len() == 0 || depth > maxDepth {
		return leaf
	}
	isMap := p.value.Kind() == document.Map
	granular := !p.all().IsEmpty() || !p.isOwned() && isMap
	if t := p.topology; t != nil {
		granular = isMap && t.Map != nil && !t.Map.Atomic || !isMap && t.List != nil && t.List.Relationship != schema.Atomic
	}
	switch {
	case !granular:
		return leaf
	case isMap:
		return byField
	}
	return byItem
}

// maxDepth is how deep values are shown in parts; indentation makes the text of deeper ones grow with the
// square of their depth.
const maxDepth = 64

func (p place) fieldType(name string) *schema.Type {
	if p.topology == nil || p.topology.Map == nil {
		return nil
	}
	t, _ := p.topology.Map.TypeOf(name)
	return t
}

func (p place) itemType() *schema.Type {
	if p.topology == nil || p.topology.List == nil {
		return nil
	}
	return p.topology.List.Item
}

// blamer collects lines.
type blamer struct {
	entries []apply.Entry
	version string // of the object
	others  map[string]document.Value
	// elsewhere are the versions at which somebody owns what the object does not have.
	elsewhere []string
	lines     []Line
}

// fields shows the fields of a map, then those that are owned and absent.
func (b *blamer) fields(p place, indent int) {
	for name, v := range p.value.Fields() {
		b.field(name, p.step(fieldset.NameElement(name), v, p.fieldType(name)), indent)
	}
	b.absentParts(p, indent)
}

func (b *blamer) field(name string, p place, indent int) {
	switch p.shape(indent / 2) {
	case byField:
		b.add(p, indent, fieldHead(name), Container)
		b.fields(p, indent+2)
	case byItem:
		b.add(p, indent, fieldHead(name), Container)
		b.items(p, indent)
	default:
		b.add(p, indent, fieldText(name, p.value), Unowned)
		b.absentWithin(p, indent+2)
	}
}

// items shows the items of a granular list, then those that are owned and absent.
func (b *blamer) items(p place, indent int) {
	elements := itemElements(p.value, p.all())
	for i, v := range p.value.Items() {
		item := p.step(elements[i], v, p.itemType())
		if item.shape(indent/2) != byField || item.isOwned() && item.all().IsEmpty() && isTwin(elements, i) {
			b.add(item, indent, itemText(v), Unowned)
			b.absentWithin(item, indent+2)
			continue
		}
		first := len(b.lines)
		b.fields(item, indent+2)
		b.dash(&b.lines[first], item, indent)
	}
	b.absentParts(p, indent)
}

// dash makes a line the first one of an item.
func (b *blamer) dash(line *Line, item place, indent int) {
	line.Text = strings.Repeat(" ", indent) + "- " + line.Text[indent+2:]
	for _, owner := range b.owners(item) {
		if !slices.Contains(line.Owners, owner) {
			line.Item = append(line.Item, owner)
		}
	}
}

// absentParts shows what is owned below a place that is shown in parts, and has no value. What is missing
// inside of a part that is there is shown with that part.
func (b *blamer) absentParts(p place, indent int) {
	all := p.all()
	for i := range all.Len() {
		if e := all.Element(i); child(p.value, e).IsAbsent() {
			b.absent(p.step(e, document.Value{}, nil), len(p.path), indent)
		}
	}
}

// absentWithin shows what is owned below a place that is shown as one, and has no value.
func (b *blamer) absentWithin(p place, indent int) { b.absentBelow(p, len(p.path), indent) }

func (b *blamer) absentBelow(p place, shown, indent int) {
	all := p.all()
	for i := range all.Len() {
		part := p.step(all.Element(i), child(p.value, all.Element(i)), nil)
		if part.value.IsAbsent() {
			b.absent(part, shown, indent)
		} else {
			b.absentBelow(part, shown, indent)
		}
	}
}

// absent shows a place that has no value, by the part of its path after what is shown already. What is in
// it is shown only if that has other owners.
func (b *blamer) absent(p place, shown, indent int) {
	if p.isOwned() {
		line := Line{Path: p.path, Owners: b.owners(p), State: Absent}
		what := " is absent"
		if i := slices.IndexFunc(line.Owners, func(e apply.Entry) bool { return b.hasElsewhere(e, p.path) }); i >= 0 {
			line.State, what = Elsewhere, " is a field at "+line.Owners[i].APIVersion
		}
		line.Text = strings.Repeat(" ", indent) + "# " + strings.TrimPrefix(p.path[shown:].Quoted(), ".") + what
		b.lines = append(b.lines, line)
	}
	for i, set := range p.sets {
		if !set.IsEmpty() && !p.members[i] {
			b.absentBelow(p, shown, indent)
			return
		}
	}
}

// add adds the lines of a place; unowned is their state if nobody owns it.
func (b *blamer) add(p place, indent int, text []string, unowned State) {
	line := Line{Path: p.path, Owners: b.owners(p), State: Owned}
	switch {
	case len(line.Owners) > 0:
	case fixed.Has(p.path) && unowned == Unowned:
		line.State = Fixed
	case unowned == Unowned && b.isUncertain(p.path):
		line.State = Uncertain
	default:
		line.State = unowned
	}
	for _, t := range text {
		if line.Text = t; t != "" {
			line.Text = strings.Repeat(" ", indent) + t
		}
		b.lines = append(b.lines, line)
	}
}

func (b *blamer) owners(p place) []apply.Entry {
	var owners []apply.Entry
	for i, member := range p.members {
		if member {
			owners = append(owners, b.entries[i])
		}
	}
	return owners
}
