package watchcache

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/scan"
)

// The layout of an object consists of the byte offsets of certain parts in its JSON, such as metadata.labels. It is determined
// in one pass, which parses only these parts. In canonical JSON the member names are sorted, so most of an object follows the
// last needed part and is never scanned.

// span is the half-open byte range [start, end) of a text.
type span struct{ start, end uint32 }

func (s span) of(text string) string { return text[s.start:s.end] }

var (
	errNotObject    = errors.New("expected a JSON object")
	errNotCanonical = errors.New("expected canonical JSON: sorted names, none twice, no white space")
	errNoName       = errors.New("metadata.name must be set")
)

// layout is the parser that determines the layout of text, the JSON of the object o, and stores it in o.
type layout struct {
	o    *Object
	text string
	// name and namespace are the values in the metadata; they must match the object's key.
	name, namespace string
}

// pathNode is a node of a trie of field paths. name is one element of a path, the name of a JSON member.
type pathNode struct {
	name string
	// fields are the indexes of the fields whose Path ends at this node. The Fallback paths of fields have indexes of their own,
	// which follow the index of the last field.
	fields   []int
	children []pathNode
}

// newPathTrie combines the paths of all fields into a trie, so that all fields are found in one pass over the JSON.
func newPathTrie(fields []Field) (trie []pathNode) {
	otherwise := len(fields)
	for i, f := range fields {
		trie = addPath(trie, f.Path, i)
		if f.Fallback != nil {
			trie = addPath(trie, f.Fallback, otherwise)
			otherwise++
		}
	}
	return trie
}

func addPath(trie []pathNode, path []string, field int) []pathNode {
	i, found := slices.BinarySearchFunc(trie, path[0], func(n pathNode, name string) int { return strings.Compare(n.name, name) })
	if !found {
		trie = slices.Insert(trie, i, pathNode{name: path[0]})
	}
	if len(path) == 1 {
		trie[i].fields = append(trie[i].fields, field)
	} else {
		trie[i].children = addPath(trie[i].children, path[1:], field)
	}
	return trie
}

// read determines the layout of l.text. It returns an error if the text is not canonical JSON or lacks metadata.name.
func (l *layout) read(fields []Field, trie []pathNode) error {
	if len(l.text) > math.MaxInt32 {
		return fmt.Errorf("expected at most %d bytes, received %d", math.MaxInt32, len(l.text))
	}
	l.o.fields = absentFields(fields)
	last := "metadata"
	if len(trie) > 0 {
		last = max(last, trie[len(trie)-1].name)
	}
	m := membersAt(l.text, 0)
	for m.next(last) {
		if err := l.readFields(&m, trie); err != nil {
			return err
		}
		if m.name == "metadata" {
			var err error
			if m.end, err = l.readMetadata(m.at); err != nil {
				return fmt.Errorf("metadata: %w", err)
			}
		}
	}
	if m.err == nil && l.name == "" {
		return errNoName
	}
	l.o.fields = chooseFields(fields, l.o.fields)
	return m.err
}

// absentFields returns the values of fields for an object that has none of them: the Absent value of each field. The Absent
// value of a field with a Fallback path is stored at the index of that path.
func absentFields(fields []Field) []string {
	if len(fields) == 0 {
		return nil
	}
	others := 0
	for _, f := range fields {
		if f.Fallback != nil {
			others++
		}
	}
	values := make([]string, len(fields)+others)
	other := len(fields)
	for i, f := range fields {
		if f.Fallback == nil {
			values[i] = f.Absent
			continue
		}
		values[other] = f.Absent
		other++
	}
	return values
}

// chooseFields reduces values, which contain the values at Path and at Fallback, to one value per field: the value at Path
// or, if that is empty, the value at Fallback.
func chooseFields(fields []Field, values []string) []string {
	if len(values) == len(fields) {
		return values
	}
	otherwise := len(fields)
	for i, f := range fields {
		if f.Fallback == nil {
			continue
		}
		if values[i] == "" {
			values[i] = values[otherwise]
		}
		otherwise++
	}
	return values[:len(fields):len(fields)]
}

// readMetadata reads the metadata object at byte offset at, and returns the offset after it.
func (l *layout) readMetadata(at int) (end int, err error) {
	const revision = "resourceVersion"
	m := membersAt(l.text, at)
	for previousEnd := 0; m.next(maxName); previousEnd = m.end {
		switch m.name {
		case "deletionTimestamp":
			l.o.deletionAt = uint32(m.nameAt - 1)
			m.end = skipValue(l.text, m.at)
		case "labels":
			m.end, err = l.readLabels(m.at)
		case "name":
			l.name, m.end, err = readString(l.text, m.at)
		case "namespace":
			l.namespace, m.end, err = readString(l.text, m.at)
		case "ownerReferences":
			l.o.ownersAt = uint32(m.at)
			m.end = skipValue(l.text, m.at)
		default:
			m.end = skipValue(l.text, m.at)
		}
		if err != nil {
			return 0, fmt.Errorf("%s: %w", m.name, err)
		}
		switch {
		case m.name == "managedFields":
			l.o.managed = span{uint32(m.nameAt), uint32(m.end + 1)} // a comma always follows managedFields, since the required "name" comes after it
		case m.name == revision:
			l.o.resourceVersion = span{uint32(previousEnd), uint32(m.end)}
		case m.name < revision:
			l.o.resourceVersion = span{uint32(m.end), uint32(m.end)}
		}
	}
	return m.end, m.err
}

func (l *layout) readLabels(at int) (end int, err error) {
	if at < len(l.text) && l.text[at] == 'n' {
		return skipValue(l.text, at), nil // labels may be null
	}
	var found [16]Label
	labels := found[:0]
	m := membersAt(l.text, at)
	for m.next(maxName) {
		label := Label{Key: m.name}
		if label.Value, m.end, err = readString(l.text, m.at); err != nil {
			return 0, fmt.Errorf("%s: %w", m.name, err)
		}
		labels = append(labels, label)
	}
	if len(labels) > 0 {
		l.o.labels = append([]Label(nil), labels...)
	}
	return m.end, m.err
}

// readFields reads the current member of m if it is a selectable field or contains selectable fields, according to trie.
func (l *layout) readFields(m *members, trie []pathNode) error {
	for i := range trie {
		n := &trie[i]
		if n.name != m.name {
			continue
		}
		for _, field := range n.fields {
			if err := l.storeField(m, field); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
		}
		if len(n.children) > 0 && m.byte() == '{' {
			below := membersAt(l.text, m.at)
			for below.next(n.children[len(n.children)-1].name) {
				if err := l.readFields(&below, n.children); err != nil {
					return fmt.Errorf("%s: %w", m.name, err)
				}
			}
			m.end = below.close()
			return below.err
		}
	}
	return nil
}

// storeField stores the value of the current member of m as the value of the selectable field with index field, if it is a
// scalar.
func (l *layout) storeField(m *members, field int) (err error) {
	switch m.byte() {
	case '"':
		l.o.fields[field], m.end, err = readString(l.text, m.at)
	case '{', '[', 'n':
	default:
		m.end = skipValue(l.text, m.at)
		l.o.fields[field] = l.text[m.at:min(m.end, len(l.text))]
	}
	return err
}

// members is an iterator over the members of a JSON object, which must be sorted by name.
type members struct {
	text string
	// nameAt is the byte offset of the current member's name, and at is the offset of its value. If the caller has parsed the
	// value, it sets end to the offset after the value. After the last member, end is the offset after the object.
	nameAt, at, end int
	name            string
	// started reports whether the first member was read. stopped reports whether the iteration ended before the last member.
	started, stopped bool
	err              error
}

// maxName sorts after all member names, because the byte 0xff does not occur in UTF-8.
const maxName = "\xff"

func membersAt(text string, at int) members { return members{text: text, at: at} }

func (m *members) byte() byte {
	if m.at < len(m.text) {
		return m.text[m.at]
	}
	return 0
}

// next advances to the next member. It returns false after the last member, and also when it reaches a member whose name is
// greater than last.
func (m *members) next(last string) bool {
	if m.err != nil || !m.advanceToName() {
		return false
	}
	name, end, err := readString(m.text, m.at)
	if err != nil || end >= len(m.text) || m.text[end] != ':' || m.started && name <= m.name {
		m.err = errNotCanonical
		return false
	}
	m.nameAt, m.name, m.at, m.end, m.started = m.at, name, end+1, 0, true
	m.stopped = name > last
	return !m.stopped
}

// close skips the members that were not visited, and returns the byte offset after the object.
func (m *members) close() int {
	if m.stopped {
		return skipFrom(m.text, m.at, 1)
	}
	return m.end
}

// advanceToName advances to the name of the next member; it returns false at the end of the object.
func (m *members) advanceToName() bool {
	switch {
	case !m.started && m.byte() != '{':
		m.err = errNotObject
		return false
	case !m.started:
		m.at++
		if m.byte() == '}' {
			m.end = m.at + 1
			return false
		}
		return true
	case m.end == 0:
		m.end = skipValue(m.text, m.at)
	}
	m.at = m.end
	m.end++
	switch m.byte() {
	case ',':
		m.at++
		return true
	case '}':
	default:
		m.err = errNotCanonical
	}
	return false
}

// readString returns the decoded JSON string at byte offset at of text, and the offset after it.
func readString(text string, at int) (s string, end int, err error) {
	if at >= len(text) || text[at] != '"' {
		return "", 0, errors.New("expected a string")
	}
	end = scan.PlainEnd(text, at+1)
	if end < len(text) && text[end] == '"' {
		return text[at+1 : end], end + 1, nil
	}
	end = skipString(text, at)
	v, err := document.ParseJSON(text[at:min(end, len(text))])
	if err != nil {
		return "", 0, err
	}
	return v.Text(), end, nil
}

// skipValue returns the offset after the JSON value at byte offset at of text, or an offset beyond the end of text if the
// value is truncated. It does not check that the value is well formed, because the value was validated when it was written.
func skipValue(text string, at int) int { return skipFrom(text, at, 0) }

// skipFrom is like skipValue, but at is inside of a value, in which depth objects and lists are open.
func skipFrom(text string, at, depth int) int {
	for at < len(text) {
		switch text[at] {
		case '"':
			at = skipString(text, at)
		case '{', '[':
			depth++
			at++
			continue
		case '}', ']':
			depth--
			at++
		case ',', ':':
			at++
			continue
		default:
			at = skipLiteral(text, at)
		}
		if depth <= 0 {
			return at
		}
	}
	return len(text) + 1
}

// skipLiteral returns the offset after the number, true, false or null at byte offset at of text.
func skipLiteral(text string, at int) int {
	for at++; at < len(text); at++ {
		switch text[at] {
		case ',', '}', ']', ':':
			return at
		}
	}
	return at
}

// skipString returns the offset after the JSON string at byte offset at of text.
func skipString(text string, at int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for at++; at < len(text); {
		if at+8 <= len(text) {
			// The loop works like package scan, but searches only for a quote or a backslash.
			x := scan.Load8(text, at)
			quotes, slashes := x^('"'*ones), x^('\\'*ones)
			hits := ((quotes - ones) &^ quotes) | ((slashes - ones) &^ slashes)
			if hits &= highs; hits == 0 {
				at += 8
				continue
			}
			at += bits.TrailingZeros64(hits) / 8
		}
		switch text[at] {
		case '"':
			return at + 1
		case '\\':
			at += 2
		default:
			at++
		}
	}
	return len(text) + 1
}
