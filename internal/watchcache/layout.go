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

// The layout of an object is where in its JSON things are. It is found in one pass that looks
// only at what it needs: of canonical JSON the names are sorted, so that most of an object lies
// behind the last thing that is looked for.

// span is a part of a text.
type span struct{ start, end uint32 }

func (s span) of(text string) string { return text[s.start:s.end] }

var (
	errNotObject    = errors.New("expected a JSON object")
	errNotCanonical = errors.New("expected canonical JSON: sorted names, none twice, no white space")
	errNoName       = errors.New("metadata.name: expected a string, received none")
)

// layout reads the layout of an object's text into the object.
type layout struct {
	o    *Object
	text string
	// name and namespace are those of the metadata; they must be those of the key.
	name, namespace string
}

// wanted is what is looked for in a JSON object: fields, or objects with fields in them.
type wanted struct {
	name string
	// fields says which fields it is. Where the first field with another place has it comes
	// after the last field, then the second's, and so on.
	fields []int
	below  []wanted
}

// wantedFields puts paths together, so that all are found in one pass.
func wantedFields(fields []Field) (want []wanted) {
	other := len(fields)
	for i, f := range fields {
		want = addWanted(want, f.Path, i)
		if f.Otherwise != nil {
			want = addWanted(want, f.Otherwise, other)
			other++
		}
	}
	return want
}

func addWanted(want []wanted, path []string, field int) []wanted {
	i, found := slices.BinarySearchFunc(want, path[0], func(w wanted, name string) int { return strings.Compare(w.name, name) })
	if !found {
		want = slices.Insert(want, i, wanted{name: path[0]})
	}
	if len(path) == 1 {
		want[i].fields = append(want[i].fields, field)
	} else {
		want[i].below = addWanted(want[i].below, path[1:], field)
	}
	return want
}

// read finds all, or says what is wrong.
func (l *layout) read(fields []Field, want []wanted) error {
	if len(l.text) > math.MaxInt32 {
		return fmt.Errorf("expected at most %d bytes, received %d", math.MaxInt32, len(l.text))
	}
	l.o.fields = absentFields(fields)
	last := "metadata"
	if len(want) > 0 {
		last = max(last, want[len(want)-1].name)
	}
	m := membersAt(l.text, 0)
	for m.next(last) {
		if err := l.wanted(&m, want); err != nil {
			return err
		}
		if m.name == "metadata" {
			var err error
			if m.end, err = l.metadata(m.at); err != nil {
				return fmt.Errorf("metadata: %w", err)
			}
		}
	}
	if m.err == nil && l.name == "" {
		return errNoName
	}
	l.o.fields = chosenFields(fields, l.o.fields)
	return m.err
}

// absentFields returns the values of the fields of an object that has none, at both places of those
// that have two.
func absentFields(fields []Field) []string {
	if len(fields) == 0 {
		return nil
	}
	others := 0
	for _, f := range fields {
		if f.Otherwise != nil {
			others++
		}
	}
	values := make([]string, len(fields)+others)
	other := len(fields)
	for i, f := range fields {
		if f.Otherwise == nil {
			values[i] = f.Absent
			continue
		}
		values[other] = f.Absent
		other++
	}
	return values
}

// chosenFields returns the values of the fields, of those with two places the one that counts.
func chosenFields(fields []Field, values []string) []string {
	if len(values) == len(fields) {
		return values
	}
	other := len(fields)
	for i, f := range fields {
		if f.Otherwise == nil {
			continue
		}
		if values[i] == "" {
			values[i] = values[other]
		}
		other++
	}
	return values[:len(fields):len(fields)]
}

// metadata finds what is in the metadata.
func (l *layout) metadata(at int) (end int, err error) {
	const revision = "resourceVersion"
	m := membersAt(l.text, at)
	for previousEnd := 0; m.next(maxName); previousEnd = m.end {
		switch m.name {
		case "deletionTimestamp":
			l.o.deletion = uint32(m.nameAt - 1)
			m.end = skipValue(l.text, m.at)
		case "labels":
			m.end, err = l.labels(m.at)
		case "name":
			l.name, m.end, err = readString(l.text, m.at)
		case "namespace":
			l.namespace, m.end, err = readString(l.text, m.at)
		case "ownerReferences":
			l.o.owners = uint32(m.at)
			m.end = skipValue(l.text, m.at)
		default:
			m.end = skipValue(l.text, m.at)
		}
		if err != nil {
			return 0, fmt.Errorf("%s: %w", m.name, err)
		}
		switch {
		case m.name == "managedFields":
			l.o.managed = span{uint32(m.nameAt), uint32(m.end + 1)} // the name comes later
		case m.name == revision:
			l.o.place = span{uint32(previousEnd), uint32(m.end)}
		case m.name < revision:
			l.o.place = span{uint32(m.end), uint32(m.end)}
		}
	}
	return m.end, m.err
}

func (l *layout) labels(at int) (end int, err error) {
	if at < len(l.text) && l.text[at] == 'n' {
		return skipValue(l.text, at), nil // null
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

// wanted reads the member if something is wanted of it.
func (l *layout) wanted(m *members, want []wanted) error {
	for i := range want {
		w := &want[i]
		if w.name != m.name {
			continue
		}
		for _, field := range w.fields {
			if err := l.field(m, field); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
		}
		if len(w.below) > 0 && m.byte() == '{' {
			below := membersAt(l.text, m.at)
			for below.next(w.below[len(w.below)-1].name) {
				if err := l.wanted(&below, w.below); err != nil {
					return fmt.Errorf("%s: %w", m.name, err)
				}
			}
			m.end = below.close()
			return below.err
		}
	}
	return nil
}

// field notes the text of the member if it is a scalar that can be selected by.
func (l *layout) field(m *members, field int) (err error) {
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

// members goes through the members of an object, which must be in order.
type members struct {
	text string
	// nameAt is where the member starts, at where its value does. Whoever finds out where
	// the value ends notes it in end. After the last member, end is where the object ends.
	nameAt, at, end int
	name            string
	// started says that there was a first member, stopped that the others are not of
	// interest.
	started, stopped bool
	err              error
}

// maxName is after all names: no UTF-8 has such a byte.
const maxName = "\xff"

func membersAt(text string, at int) members { return members{text: text, at: at} }

func (m *members) byte() byte {
	if m.at < len(m.text) {
		return m.text[m.at]
	}
	return 0
}

// next goes on to the next member, up to the last name that is of interest.
func (m *members) next(last string) bool {
	if m.err != nil || !m.toName() {
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

// close returns where the object ends, whether all its members were visited or not.
func (m *members) close() int {
	if m.stopped {
		return skipFrom(m.text, m.at, 1)
	}
	return m.end
}

// toName goes to where the next name starts; it returns false at the end.
func (m *members) toName() bool {
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

// readString returns the string at a place, and where it ends.
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

// skipValue returns where the value at a place ends, or a place behind the text if it doesn't.
// That the value is well formed is not checked: whoever wrote it did.
func skipValue(text string, at int) int { return skipFrom(text, at, 0) }

// skipFrom is skipValue for the rest of a value, some levels deep in it.
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

// skipLiteral returns where a number, true, false or null ends.
func skipLiteral(text string, at int) int {
	for at++; at < len(text); at++ {
		switch text[at] {
		case ',', '}', ']', ':':
			return at
		}
	}
	return at
}

// skipString returns where the string at a place ends.
func skipString(text string, at int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for at++; at < len(text); {
		if at+8 <= len(text) {
			// As in package scan, but for the two bytes that count here.
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
