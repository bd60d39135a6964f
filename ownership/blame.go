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

// Line is a line of an object as YAML, with the managed fields entries that own its field.
type Line struct {
	// Text is the line without its line break. Lines with state Absent or OtherVersion are YAML comments.
	Text string
	// Path is the path of the field that the line shows; the line shows all or a part of the field's value. The path element
	// of a list item that no entry owns is its index.
	Path fieldset.Path
	// Owners are the managed fields entries that own the field.
	Owners []apply.Entry
	// ItemOwners are the managed fields entries that own the list item but not its first field. It is set only on the
	// first line of a list item.
	ItemOwners []apply.Entry
	// State is Owned, or the reason why the field has no owners or no value.
	State State
}

// State classifies the field of a line by its owners, which are managed fields entries, and its value.
type State uint8

// States of a line.
const (
	// Owned: the field has owners and a value.
	Owned State = iota
	// Unowned: the field has no owner, as is usual for defaulted fields.
	Unowned
	// Container: the field itself has no owner; its children have separate lines.
	Container
	// Untracked: managedFields never records the field; see [apply.UntrackedFields].
	Untracked
	// Absent: the field has owners and no value.
	Absent
	// OtherVersion: the field has no value at the object's version, but has owners that wrote it at another API version.
	OtherVersion
	// Uncertain: the field has no owner at the object's version, but may correspond to a field with the state OtherVersion.
	Uncertain
)

// String returns the state as in the JSON output of cadastre blame: owned, unowned, container, fixed (Untracked), absent,
// elsewhere (OtherVersion), uncertain.
func (s State) String() string {
	names := [...]string{"owned", "unowned", "container", "fixed", "absent", "elsewhere", "uncertain"}
	if int(s) < len(names) {
		return names[s]
	}
	return "State(" + strconv.Itoa(int(s)) + ")"
}

// untrackedFields are the fields that managedFields never records.
var untrackedFields = apply.UntrackedFields()

// Blame returns an object as lines of YAML, without managedFields, with the managed fields entries that own the field of
// each line.
//
// The schema determines which values are atomic. If it is nil, a value is atomic unless an entry owns a field below it;
// this makes a difference only for a granular map that is owned while none of its fields is.
//
// An entry at another API version also owns the fields that have the same path at the object's version. Owned fields that
// exist only at another version have the state OtherVersion, and unowned fields that may correspond to them are Uncertain.
// Callers pass the object at those other versions as others. If a version is missing in others, every unowned field is
// Uncertain if an entry at that version owns a field that the object does not have.
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
	b.addFields(root, 0)
	return b.lines, nil
}

// node is a value in an object, with the parts of the entries' field sets that are below its path.
type node struct {
	path  fieldset.Path
	value document.Value
	// schemaType is the schema of the value, nil if it is unknown.
	schemaType *schema.Type
	// sets holds, for each entry, the part of its field set below path. members reports, for each entry, whether path
	// itself is a member of its field set.
	sets    []fieldset.Set
	members []bool
}

// child returns the node of the child of n with the path element e, the value v and the schema t.
func (n node) child(e fieldset.Element, v document.Value, t *schema.Type) node {
	below := node{
		path: append(slices.Clip(n.path), e), value: v, schemaType: t,
		sets: make([]fieldset.Set, len(n.sets)), members: make([]bool, len(n.sets)),
	}
	for i, set := range n.sets {
		below.sets[i], below.members[i] = set.Below(e)
	}
	return below
}

// ownedBelow returns the union of the field sets of all entries below the path of the node.
func (n node) ownedBelow() fieldset.Set {
	var all fieldset.Set
	for _, set := range n.sets {
		all = all.Union(set)
	}
	return all
}

// isOwned reports whether any entry owns the path of the node itself.
func (n node) isOwned() bool { return slices.Contains(n.members, true) }

// shape determines how a value is split into lines that have separate owners.
type shape uint8

const (
	leafShape shape = iota // the value is shown as one unit
	mapShape               // each field of a map is shown separately
	listShape              // each item of a list is shown separately
)

// shape returns the shape of the node's value according to its schema or, if that is unknown, according to the owned
// fields. Values that are empty, or deeper than maxDepth, are leaves.
func (n node) shape(depth int) shape {
	if n.value.Len() == 0 || depth > maxDepth {
		return leafShape
	}
	isMap := n.value.Kind() == document.Map
	granular := !n.ownedBelow().IsEmpty() || !n.isOwned() && isMap
	if t := n.schemaType; t != nil {
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

// maxDepth is the maximum nesting depth at which values are split into lines. Deeper values are shown as one unit, because
// indentation would make the size of the output grow with the square of the depth.
const maxDepth = 64

// fieldType returns the schema of a field of the node's value, nil if it is unknown.
func (n node) fieldType(name string) *schema.Type {
	if n.schemaType == nil || n.schemaType.Map == nil {
		return nil
	}
	t, _ := n.schemaType.Map.TypeOf(name)
	return t
}

// itemType returns the schema of the items of the node's value, nil if it is unknown.
func (n node) itemType() *schema.Type {
	if n.schemaType == nil || n.schemaType.List == nil {
		return nil
	}
	return n.schemaType.List.Item
}

// blamer collects the lines of an object for Blame.
type blamer struct {
	entries       []apply.Entry
	version       string                    // apiVersion of the object
	otherVersions map[string]document.Value // the object at other versions, by apiVersion
	// missingVersions are the other versions at which an entry owns a field that does not exist at the version of the
	// object.
	missingVersions []string
	lines           []Line
}

// addFields adds the lines of a map's fields, followed by the lines of owned fields that are absent in the map.
func (b *blamer) addFields(n node, indent int) {
	for name, v := range n.value.Fields() {
		b.addField(name, n.child(fieldset.NameElement(name), v, n.fieldType(name)), indent)
	}
	b.addAbsentChildren(n, indent)
}

// addField adds the lines of one field and of the fields and items below this field.
func (b *blamer) addField(name string, n node, indent int) {
	switch n.shape(indent / 2) {
	case mapShape:
		b.addLines(n, indent, fieldHead(name), Container)
		b.addFields(n, indent+2)
	case listShape:
		b.addLines(n, indent, fieldHead(name), Container)
		b.addItems(n, indent)
	default:
		b.addLines(n, indent, fieldText(name, n.value), Unowned)
		b.addAbsentDescendants(n, indent+2)
	}
}

// addItems adds the lines of a granular list's items, followed by the lines of owned items that are absent in the list.
func (b *blamer) addItems(n node, indent int) {
	elements := itemElements(n.value, n.ownedBelow())
	for i, v := range n.value.Items() {
		item := n.child(elements[i], v, n.itemType())
		if item.shape(indent/2) != mapShape || item.isOwned() && item.ownedBelow().IsEmpty() && isDuplicate(elements, i) {
			b.addLines(item, indent, itemText(v), Unowned)
			b.addAbsentDescendants(item, indent+2)
			continue
		}
		first := len(b.lines)
		b.addFields(item, indent+2)
		b.makeItemLine(&b.lines[first], item, indent)
	}
	b.addAbsentChildren(n, indent)
}

// makeItemLine changes the line of an item's first field to the first line of the list item: it adds the dash, and sets
// ItemOwners to the entries that own the item.
func (b *blamer) makeItemLine(line *Line, item node, indent int) {
	line.Text = strings.Repeat(" ", indent) + "- " + line.Text[indent+2:]
	for _, owner := range b.owners(item) {
		if !slices.Contains(line.Owners, owner) {
			line.ItemOwners = append(line.ItemOwners, owner)
		}
	}
}

// addAbsentChildren adds the lines of those owned children of a node that have no value. It skips children that have a
// value: the methods that add these children also add their absent descendants.
func (b *blamer) addAbsentChildren(n node, indent int) {
	all := n.ownedBelow()
	for i := range all.Len() {
		if e := all.Element(i); childOf(n.value, e).IsAbsent() {
			b.addAbsent(n.child(e, document.Value{}, nil), len(n.path), indent)
		}
	}
}

// addAbsentDescendants adds the lines of owned descendants without a value, at any depth, of a node that is shown as one
// unit.
func (b *blamer) addAbsentDescendants(n node, indent int) {
	b.addAbsentDescendantsOf(n, len(n.path), indent)
}

// addAbsentDescendantsOf implements addAbsentDescendants recursively. shown is the number of leading path elements that
// earlier lines show; the added lines omit these elements.
func (b *blamer) addAbsentDescendantsOf(n node, shown, indent int) {
	all := n.ownedBelow()
	for i := range all.Len() {
		part := n.child(all.Element(i), childOf(n.value, all.Element(i)), nil)
		if part.value.IsAbsent() {
			b.addAbsent(part, shown, indent)
		} else {
			b.addAbsentDescendantsOf(part, shown, indent)
		}
	}
}

// addAbsent adds the line of a node without a value. The line omits the first shown elements of the node's path. addAbsent
// adds lines of the node's descendants only if an entry owns a descendant but not the node.
func (b *blamer) addAbsent(n node, shown, indent int) {
	if n.isOwned() {
		line := Line{Path: n.path, Owners: b.owners(n), State: Absent}
		what := " is absent"
		if i := slices.IndexFunc(line.Owners, func(e apply.Entry) bool { return b.isAtOtherVersion(e, n.path) }); i >= 0 {
			line.State, what = OtherVersion, " is a field at "+line.Owners[i].APIVersion
		}
		line.Text = strings.Repeat(" ", indent) + "# " + strings.TrimPrefix(n.path[shown:].Quoted(), ".") + what
		b.lines = append(b.lines, line)
	}
	for i, set := range n.sets {
		if !set.IsEmpty() && !n.members[i] {
			b.addAbsentDescendantsOf(n, shown, indent)
			return
		}
	}
}

// addLines adds lines with the given texts for a node. If no entry owns the node, and its field is neither untracked nor
// uncertain, the lines have the state unowned.
func (b *blamer) addLines(n node, indent int, text []string, unowned State) {
	line := Line{Path: n.path, Owners: b.owners(n), State: Owned}
	switch {
	case len(line.Owners) > 0:
	case untrackedFields.Has(n.path) && unowned == Unowned:
		line.State = Untracked
	case unowned == Unowned && b.isUncertain(n.path):
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

// owners returns the managed fields entries that own the path of the node itself.
func (b *blamer) owners(n node) []apply.Entry {
	var owners []apply.Entry
	for i, member := range n.members {
		if member {
			owners = append(owners, b.entries[i])
		}
	}
	return owners
}
