package fieldset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/cadastre/cadastre/document"
)

// The oracle is structured-merge-diff, the library that Kubernetes uses ("upstream"). Random elements, paths and sets
// are built with both libraries.

func mustParse(t testing.TB, text string) Set {
	t.Helper()
	s, err := ParseFieldsV1(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustParseUpstream(t testing.TB, text string) *fieldpath.Set {
	t.Helper()
	s, err := parseUpstream(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func parseUpstream(text string) (*fieldpath.Set, error) {
	s := &fieldpath.Set{}
	err := s.FromJSON(strings.NewReader(text))
	return s, err
}

func mustPath(t testing.TB, text string) Path {
	t.Helper()
	p, err := ParsePath(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// setOf returns the set of paths, which are in the notation of ParsePath.
func setOf(t testing.TB, paths ...string) Set {
	t.Helper()
	var all []Path
	for _, p := range paths {
		all = append(all, mustPath(t, p))
	}
	return New(all...)
}

// toJSON returns upstream's FieldsV1 as kube-apiserver sends it: kube-apiserver encodes the enclosing object with
// encoding/json, which escapes HTML characters.
func toJSON(t testing.TB, s *fieldpath.Set) string {
	t.Helper()
	text, err := s.ToJSON()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	json.HTMLEscape(&b, text)
	return b.String()
}

// elementPair is the same path element in this package (ours) and in structured-merge-diff (upstream).
type elementPair struct {
	ours     Element
	upstream fieldpath.PathElement
}

// trickyStrings are strings that JSON or FieldsV1 must escape, or that a parser could misread.
var trickyStrings = []string{
	"", "a", "b", "ab", "name", "A", "Z", "_", "a.b", "example.com/app", ".", "..", "a b", " ", "é", "日本", "😀", "\u007f", "\u0085", "\ufeff", "\ufffd",
	`"`, `\`, `\"`, `a"b`, `a\b`, `\u0041`, `\\`, "'", "<", ">", "&", "<a&b>", "\u2028", "\u2029", "a\u2028b",
	"\x00", "\x01", "\b", "\f", "\n", "\r", "\t", "\x1b", "\x1f", "{", "}", "[", "]", "=", ",", ":", "[a=1]", "a,b=c", "k:{}", "f:a", "0", "-1", "null", "true",
	"{}", `{"a":1}`, strings.Repeat("long", 30),
}

var numbers = []any{
	0, 1, 2, 10, 80, 443, 8080, -1, -2, -10, 1 << 31, 1<<53 - 1, -(1<<53 - 1),
	0.5, -0.5, 1.5, 2.25, 10.125, 100000.5, 1e-5, 1e-7, -1e-7, 1.5e-9, 1e20, 1e21, 1e22, -1e21, 1.5e300, 1e-300,
}

func randomScalar(r *rand.Rand) any {
	switch r.IntN(8) {
	case 0:
		return nil
	case 1:
		return r.IntN(2) == 0
	case 2, 3, 4:
		return numbers[r.IntN(len(numbers))]
	}
	return trickyStrings[r.IntN(len(trickyStrings))]
}

func randomValue(r *rand.Rand, depth int) any {
	switch r.IntN(5 + 10*max(0, 2-depth)) {
	case 0:
		list := []any{}
		for range r.IntN(3) {
			list = append(list, randomValue(r, depth-1))
		}
		return list
	case 1:
		m := map[string]any{}
		for range r.IntN(3) {
			m[trickyStrings[r.IntN(len(trickyStrings))]] = randomValue(r, depth-1)
		}
		return m
	}
	return randomScalar(r)
}

func randomElementPair(r *rand.Rand) elementPair {
	switch r.IntN(8) {
	case 0, 1:
		return keyPair(r)
	case 2:
		return valuePair(randomScalar(r))
	case 3:
		return valuePair(randomValue(r, 2))
	case 4:
		i := r.IntN(12) - 1
		return elementPair{IndexElement(i), fieldpath.IndexElement(i)}
	}
	name := trickyStrings[r.IntN(len(trickyStrings))]
	return elementPair{NameElement(name), fieldpath.FieldNameElement(name)}
}

func valuePair(v any) elementPair {
	return elementPair{ValueElement(fromGo(v)), fieldpath.ValueElement(value.NewValueInterface(upstreamGo(v)))}
}

func keyPair(r *rand.Rand) elementPair {
	fields := map[string]any{}
	for range r.IntN(4) {
		name := []string{"name", "containerPort", "protocol", "a"}[r.IntN(4)]
		if r.IntN(4) == 0 {
			name = trickyStrings[r.IntN(len(trickyStrings))]
		}
		fields[name] = randomScalar(r)
		if r.IntN(6) == 0 {
			fields[name] = randomValue(r, 2)
		}
	}
	var ours []KeyField
	var upstream []any
	for name, v := range fields { // Go iterates in random order; both libraries sort the keys
		ours = append(ours, KeyField{name, fromGo(v)})
		upstream = append(upstream, name, upstreamGo(v))
	}
	return elementPair{KeyElement(ours...), fieldpath.KeyElementByFields(upstream...)}
}

func fromGo(v any) document.Value {
	d, err := document.FromGo(v)
	if err != nil {
		panic(fmt.Sprintf("%#v: %v", v, err))
	}
	return d
}

// upstreamGo converts integers to int64, the type with which Kubernetes decodes them.
func upstreamGo(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case []any:
		out := []any{}
		for _, item := range v {
			out = append(out, upstreamGo(item))
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for name, field := range v {
			out[name] = upstreamGo(field)
		}
		return out
	}
	return v
}

// setPair is the same set in this package (ours) and in structured-merge-diff (upstream), with the paths that it was
// built from.
type setPair struct {
	ours          Set
	upstream      *fieldpath.Set
	paths         []Path
	upstreamPaths []fieldpath.Path
}

// randomSetPair returns a random set whose path elements are chosen from elements. A small number of elements gives
// sets with many common paths.
func randomSetPair(r *rand.Rand, elements []elementPair) setPair {
	p := setPair{upstream: fieldpath.NewSet()}
	for range r.IntN(12) {
		var ours Path
		var upstream fieldpath.Path
		for range r.IntN(5) {
			e := elements[r.IntN(len(elements))]
			ours, upstream = append(ours, e.ours), append(upstream, e.upstream)
		}
		p.paths, p.upstreamPaths = append(p.paths, ours), append(p.upstreamPaths, upstream)
		p.upstream.Insert(upstream)
	}
	p.ours = New(p.paths...)
	return p
}

// randomElements returns 2 to 9 random path elements.
func randomElements(r *rand.Rand) []elementPair {
	elements := make([]elementPair, 2+r.IntN(8))
	for i := range elements {
		elements[i] = randomElementPair(r)
	}
	return elements
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// checkSame fails the test unless the sets of both libraries contain the same paths, in the same order.
func checkSame(t *testing.T, what string, ours Set, upstream *fieldpath.Set) {
	t.Helper()
	checkInvariants(t, ours)
	if got, want := ours.FieldsV1(), toJSON(t, upstream); got != want {
		t.Fatalf("%s:\n got %s\nwant %s", what, got, want)
	}
	if ours.Size() != upstream.Size() || ours.IsEmpty() != upstream.Empty() {
		t.Fatalf("%s: Size() = %d, IsEmpty() = %v, want %d, %v", what, ours.Size(), ours.IsEmpty(), upstream.Size(), upstream.Empty())
	}
	var order []string
	upstream.Iterate(func(p fieldpath.Path) { order = append(order, spellUpstream(t, p)) })
	at := 0
	for p := range ours.All() {
		if got := spellPath(p); at >= len(order) || got != order[at] {
			t.Fatalf("%s: member %d is %s, want %s", what, at, got, order[min(at, len(order)-1)])
		}
		at++
	}
	if at != len(order) {
		t.Fatalf("%s: All() yields %d members, want %d", what, at, len(order))
	}
}

// spellPath returns the FieldsV1 spellings of the elements of p, one per line.
func spellPath(p Path) string {
	var b strings.Builder
	for _, e := range p {
		b.WriteString(string(e.appendSpelling(nil)) + "\n")
	}
	return b.String()
}

func spellUpstream(t testing.TB, p fieldpath.Path) string {
	t.Helper()
	var b strings.Builder
	for _, e := range p {
		// Upstream does not export a function for the spelling of one element, so the spelling is cut from the FieldsV1 of
		// a set.
		text := toJSON(t, fieldpath.NewSet(fieldpath.Path{e}))
		b.WriteString(strings.TrimSuffix(strings.TrimPrefix(text, `{"`), `":{}}`) + "\n")
	}
	return b.String()
}

// checkInvariants fails the test unless every node of the set fulfils the invariants in doc.go.
func checkInvariants(t *testing.T, s Set) {
	t.Helper()
	for i, n := range s.children {
		if !n.member && len(n.children) == 0 {
			t.Fatalf("node %s is neither a member nor has children, want one of them", n.element())
		}
		if n.kind == 0 {
			t.Fatal("a set contains an element without a kind")
		}
		if i > 0 && s.children[i-1].compare(&n) >= 0 {
			t.Fatalf("the children of a node are not sorted: %s is before %s", s.children[i-1].element(), n.element())
		}
		checkInvariants(t, n.below())
	}
}
