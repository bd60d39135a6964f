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

// Line is a line of an object as YAML, with the owners of its field.
type Line struct {
	// Text is the line without its line break. Lines with state Absent or OtherVersion are YAML comments.
	Text string
	// Path is the field that the line shows, or shows a part of. A list item without owners has its index as path
	// element.
	Path fieldset.Path
	// Owners are the entries that own the field.
	Owners []apply.Entry
	// ItemOwners are, on the first line of a list item, the entries that own the item but not its first field.
	ItemOwners []apply.Entry
	// State explains a line without owners.
	State State
}

// State is the ownership of a line.
type State uint8

// States of a line.
const (
	// Owned: the field has owners and a value.
	Owned State = iota
	// Unowned: the field has no owner, such as a default.
	Unowned
	// Container: the field itself has no owner; its children have separate lines.
	Container
	// Untracked: managedFields never records the field; see [apply.UntrackedFields].
	Untracked
	// Absent: the field has owners and no value.
	Absent
	// OtherVersion: the field has owners that wrote it at another version, and no value at this one.
	OtherVersion
	// Uncertain: the field has no owner at this version, but may correspond to a field with the state OtherVersion.
	Uncertain
)

// String returns the state as it appears in JSON output of the command line: owned, unowned, container, fixed
// (Untracked), absent, elsewhere (OtherVersion), uncertain.
func (s State) String() string {
	names := [...]string{"owned", "unowned", "container", "fixed", "absent", "elsewhere", "uncertain"}
	if int(s) < len(names) {
		return names[s]
	}
	return "State(" + strconv.Itoa(int(s)) + ")"
}

// untrackedFields are the fields that managedFields never records.
var untrackedFields = apply.UntrackedFields()

// Blame returns an object as lines of YAML, without managedFields, with the owners of every line.
//
// The schema determines which values are atomic. It may be nil; then a value is atomic unless an entry owns a field
// below it. The results differ only for a map that is owned while none of its fields is.
//
// Entries of other versions own the fields with the same path at the object's version. Fields that exist only at such
// a version have the state OtherVersion, and unowned fields that may correspond to them are Uncertain. others are the
// object at the versions of such entries. If a version is missing in others, every unowned field is Uncertain as soon
// as an entry of that version owns a field that the object does not have.
func Blame(o apply.Object, t *schema.Type, others ...document.Value) ([]Line, error) {
	b := blamer{entries: o.Entries, version: o.Document.Get("apiVersion").Text(), otherVersions: map[string]document.Value{}}
	for _, other := range others {
		b.otherVersions[other.Get("apiVersion").Text()] = other
	}
	root := node{value: o.Document, schemaType: t, sets: make([]fieldset.Set, len(o.Entries))}
	for i := range o.Entries {
		set, err := decodeFields(o.Entries, i)
		if err != nil {
			return nil, err
		}
		root.sets[i] = set
		b.addMissingVersion(o, i, set)
	}
	b.fields(root, 0)
	return b.lines, nil
}

// node is a value of an object with the field sets of all entries below it.
type node struct {
	path  fieldset.Path
	value document.Value
	// schemaType is nil if it is unknown.
	schemaType *schema.Type
	// sets are the field sets of the entries below path; members reports which sets have path itself as a member.
	sets    []fieldset.Set
	members []bool
}

// child returns the node of a child with the given path element, value and type.
func (p node) child(e fieldset.Element, v document.Value, t *schema.Type) node {
	below := node{
		path: append(slices.Clip(p.path), e), value: v, schemaType: t,
		sets: make([]fieldset.Set, len(p.sets)), members: make([]bool, len(p.sets)),
	}
	for i, set := range p.sets {
		below.sets[i], below.members[i] = set.Below(e)
	}
	return below
}

// ownedBelow returns the union of the field sets below the node.
func (p node) ownedBelow() fieldset.Set {
	var all fieldset.Set
	for _, set := range p.sets {
		all = all.Union(set)
	}
	return all
}

// isOwned reports whether any entry owns the node itself.
func (p node) isOwned() bool { return slices.Contains(p.members, true) }

// shape is how a value is split into lines with separate owners.
type shape uint8

const (
	leafShape shape = iota // the value is shown as one unit
	mapShape               // each field of a map is shown separately
	listShape              // each item of a list is shown separately
)

// shape returns the shape according to the schema, or, without one, according to the owned fields.
func (p node) shape(depth int) shape {
	if p.value.Len() == 0 || depth > maxDepth {
		return leafShape
	}
	isMap := p.value.Kind() == document.Map
	granular := !p.ownedBelow().IsEmpty() || !p.isOwned() && isMap
	if t := p.schemaType; t != nil {
		granular = isMap && t.Map != nil && !t.Map.Atomic || !isMap && t.List != nil && t.List.Relationship != schema.Atomic
	}
	switch {
	case !granular:
		return leafShape
	case isMap:
		return mapShape
	}
	return listShape
}

// maxDepth is the maximum depth to which values are split. Deeper values are shown as one unit, because indentation
// makes the size of the output quadratic in the depth.
const maxDepth = 64

func (p node) fieldType(name string) *schema.Type {
	if p.schemaType == nil || p.schemaType.Map == nil {
		return nil
	}
	t, _ := p.schemaType.Map.TypeOf(name)
	return t
}

func (p node) itemType() *schema.Type {
	if p.schemaType == nil || p.schemaType.List == nil {
		return nil
	}
	return p.schemaType.List.Item
}

// blamer collects the lines of an object.
type blamer struct {
	entries       []apply.Entry
	version       string // version of the object
	otherVersions map[string]document.Value
	// missingVersions are the versions with an entry that owns a field that the object does not have at its own
	// version.
	missingVersions []string
	lines           []Line
}

// fields adds the lines of a map's fields, followed by those of fields that are owned and absent.
func (b *blamer) fields(p node, indent int) {
	for name, v := range p.value.Fields() {
		b.field(name, p.child(fieldset.NameElement(name), v, p.fieldType(name)), indent)
	}
	b.absentChildren(p, indent)
}

// field adds the lines of one field.
func (b *blamer) field(name string, p node, indent int) {
	switch p.shape(indent / 2) {
	case mapShape:
		b.add(p, indent, fieldHead(name), Container)
		b.fields(p, indent+2)
	case listShape:
		b.add(p, indent, fieldHead(name), Container)
		b.items(p, indent)
	default:
		b.add(p, indent, fieldText(name, p.value), Unowned)
		b.absentDescendants(p, indent+2)
	}
}

// items adds the lines of a granular list's items, followed by those of items that are owned and absent.
func (b *blamer) items(p node, indent int) {
	elements := itemElements(p.value, p.ownedBelow())
	for i, v := range p.value.Items() {
		item := p.child(elements[i], v, p.itemType())
		if item.shape(indent/2) != mapShape || item.isOwned() && item.ownedBelow().IsEmpty() && isDuplicate(elements, i) {
			b.add(item, indent, itemText(v), Unowned)
			b.absentDescendants(item, indent+2)
			continue
		}
		first := len(b.lines)
		b.fields(item, indent+2)
		b.makeItemLine(&b.lines[first], item, indent)
	}
	b.absentChildren(p, indent)
}

// makeItemLine changes a line to the first line of a list item.
func (b *blamer) makeItemLine(line *Line, item node, indent int) {
	line.Text = strings.Repeat(" ", indent) + "- " + line.Text[indent+2:]
	for _, owner := range b.owners(item) {
		if !slices.Contains(line.Owners, owner) {
			line.ItemOwners = append(line.ItemOwners, owner)
		}
	}
}

// absentChildren adds the lines of owned children without a value. Descendants of existing children are added with
// these.
func (b *blamer) absentChildren(p node, indent int) {
	all := p.ownedBelow()
	for i := range all.Len() {
		if e := all.Element(i); childOf(p.value, e).IsAbsent() {
			b.absent(p.child(e, document.Value{}, nil), len(p.path), indent)
		}
	}
}

// absentDescendants adds the lines of owned descendants, without a value, of a node that is shown as one unit.
func (b *blamer) absentDescendants(p node, indent int) { b.absentDescendantsOf(p, len(p.path), indent) }

// absentDescendantsOf is the recursion of absentDescendants; shown is the length of the path prefix that is not
// repeated.
func (b *blamer) absentDescendantsOf(p node, shown, indent int) {
	all := p.ownedBelow()
	for i := range all.Len() {
		part := p.child(all.Element(i), childOf(p.value, all.Element(i)), nil)
		if part.value.IsAbsent() {
			b.absent(part, shown, indent)
		} else {
			b.absentDescendantsOf(part, shown, indent)
		}
	}
}

// absent adds the line of a node without a value; shown is the length of the path prefix that is not repeated.
// Descendants are added only if they have other owners.
func (b *blamer) absent(p node, shown, indent int) {
	if p.isOwned() {
		line := Line{Path: p.path, Owners: b.owners(p), State: Absent}
		what := " is absent"
		if i := slices.IndexFunc(line.Owners, func(e apply.Entry) bool { return b.isAtOtherVersion(e, p.path) }); i >= 0 {
			line.State, what = OtherVersion, " is a field at "+line.Owners[i].APIVersion
		}
		line.Text = strings.Repeat(" ", indent) + "# " + strings.TrimPrefix(p.path[shown:].Quoted(), ".") + what
		b.lines = append(b.lines, line)
	}
	for i, set := range p.sets {
		if !set.IsEmpty() && !p.members[i] {
			b.absentDescendantsOf(p, shown, indent)
			return
		}
	}
}

// add adds the lines of a node. unowned is the state if it has no owner.
func (b *blamer) add(p node, indent int, text []string, unowned State) {
	line := Line{Path: p.path, Owners: b.owners(p), State: Owned}
	switch {
	case len(line.Owners) > 0:
	case untrackedFields.Has(p.path) && unowned == Unowned:
		line.State = Untracked
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

// owners returns the entries that own the node itself.
func (b *blamer) owners(p node) []apply.Entry {
	var owners []apply.Entry
	for i, member := range p.members {
		if member {
			owners = append(owners, b.entries[i])
		}
	}
	return owners
}
