package builtin

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
)

const verdictsFolder = "testdata/validation/"

// verdictCase is what kube-apiserver said about an object that was changed in one place.
type verdictCase struct {
	object string // the object's name
	t      *Type
	verb   string
	change string
	doc    document.Value
	old    document.Value
	said   []string
}

// forVerdicts visits what kube-apiserver said, every so manieth case, until the visitor has seen
// enough; the oracle wrote it down.
func forVerdicts(t testing.TB, file string, every int, visit func(verdictCase) bool) {
	f, err := os.Open(verdictsFolder + file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	var base document.Value
	var c verdictCase
	n := 0
	lines.Scan() // the first line is a comment
	for lines.Scan() {
		isObject := bytes.HasPrefix(lines.Bytes(), []byte("object\t"))
		if n++; !isObject && n%every != 0 {
			continue
		}
		parts := strings.Split(lines.Text(), "\t")
		if isObject {
			if base, err = document.ParseJSON([]byte(parts[2])); err != nil {
				t.Fatal(err)
			}
			typ, ok := Builtin("io.k8s.api." + parts[1])
			if !ok {
				t.Fatalf("there is no type %s", parts[1])
			}
			c = verdictCase{object: parts[1] + " " + base.Lookup("metadata", "name").Text(), t: typ}
			continue
		}
		c.verb, c.change, c.said = parts[0], parts[1]+" "+parts[2], nil
		if parts[3] != "" {
			// That an update must name the version that it is about is the caller's.
			c.said = slices.DeleteFunc(parts[3:], func(e string) bool { return strings.Contains(e, "must be specified for an update") })
		}
		var value document.Value
		if parts[2] != "" {
			if value, err = document.ParseJSON([]byte(parts[2])); err != nil {
				t.Fatal(err)
			}
		}
		c.doc = changed(base, strings.Split(parts[1][1:], "/"), value)
		c.old = document.Value{}
		if generation, ok := strings.CutPrefix(c.verb, "warn update "); ok {
			c.doc = withGeneration(t, c.doc, base, generation)
			c.verb = "warn update"
		}
		switch c.verb {
		case "update", "warn update", "status", "warn status":
			c.old = base
		case "back", "status back":
			c.doc, c.old = base, c.doc
		}
		if !visit(c) {
			return
		}
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
}

// withGeneration gives an object its generation, or the one that it had, which may be none.
func withGeneration(t testing.TB, doc, old document.Value, generation string) document.Value {
	n, err := strconv.ParseInt(generation, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	value := old.Lookup("metadata", "generation")
	if was, _ := value.Int64(); was != n {
		value = document.NewInt(n)
	}
	return doc.With("metadata", withValue(doc.Get("metadata"), "generation", value))
}

// changed returns a copy with another value at a place, or without that place if it is absent.
func changed(v document.Value, at []string, value document.Value) document.Value {
	if len(at) == 0 {
		return value
	}
	name := pointerNames.Replace(at[0])
	if v.Kind() != document.List {
		return v.With(name, changed(v.Get(name), at[1:], value))
	}
	i, err := strconv.Atoi(name)
	if err != nil {
		panic(err)
	}
	var items []document.Value
	for j, item := range v.Items() {
		if j == i {
			item = changed(item, at[1:], value)
		}
		if !item.IsAbsent() {
			items = append(items, item)
		}
	}
	return document.NewList(items...)
}

func spelled(errs field.ErrorList) (said []string) {
	for _, e := range errs {
		message, _, _ := strings.Cut(e.ErrorBody(), "\n")
		said = append(said, fmt.Sprintf("%s %s %s", string(e.Type), e.Field, message))
	}
	return said
}

// essence is an error without the value that it shows.
func essence(said string) string {
	kind, rest, _ := strings.Cut(said, " ")
	message := rest
	for _, title := range []string{"Invalid value: ", "Unsupported value: ", "Duplicate value: "} {
		if i := strings.Index(rest, title); i >= 0 {
			value := rest[i+len(title):]
			detail := ""
			if quoted, err := strconv.QuotedPrefix(value); err == nil {
				detail = value[len(quoted):]
			} else if j := strings.Index(value, ": supported values: "); j >= 0 {
				detail = value[j:]
			} else if j := strings.LastIndex(value, ": "); j >= 0 {
				detail = value[j:]
			}
			message = rest[:i] + title + detail
			break
		}
	}
	return kind + " " + message
}

// outcome compares errors: which of kube-apiserver's we lack, which of ours it lacks, and for how
// many only the value that is shown differs.
func outcome(theirs, ours []string) (lacking, extra []string, otherValues int) {
	left := slices.Clone(ours)
	for _, e := range theirs {
		i := slices.Index(left, e)
		if i < 0 {
			if i = slices.IndexFunc(left, func(o string) bool { return essence(o) == essence(e) }); i >= 0 {
				otherValues++
			}
		}
		if i < 0 {
			lacking = append(lacking, e)
			continue
		}
		left = slices.Delete(left, i, i+1)
	}
	return lacking, left, otherValues
}

// TestVerdicts replays what kube-apiserver said. We must never refuse what it accepts, nor find
// anything that it does not; what we do not find is listed in gaps.txt, and nothing else.
func TestVerdicts(t *testing.T) {
	compareGaps(t, replay(t, "verdicts.txt.gz", (*Type).Validate))
}

// TestStatusVerdicts replays what it said about writes to statuses. Nothing of that may be missing.
func TestStatusVerdicts(t *testing.T) {
	validate := func(typ *Type, obj, live document.Value) field.ErrorList {
		return typ.ValidateSubresource("status", obj, live)
	}
	for _, gap := range replay(t, "statuses.txt.gz", validate) {
		t.Errorf("kube-apiserver says, and we do not: %s", gap)
	}
}

// replay holds the answers of kube-apiserver against ours, and returns what we do not say.
func replay(t *testing.T, file string, validate func(typ *Type, obj, old document.Value) field.ErrorList) []string {
	gaps := map[string]int{}
	kinds := map[string]*tally{}
	cases, refused, complete, identical, found, others := 0, 0, 0, 0, 0, 0
	every := 1
	if testing.Short() {
		every = 10
	}
	forVerdicts(t, file, every, func(c verdictCase) bool {
		ours := spelled(validate(c.t, c.doc, c.old))
		lacking, extra, otherValues := outcome(c.said, ours)
		if len(extra) > 0 {
			t.Errorf("%s %s %s:\n ours %q\n theirs %q", c.verb, c.object, c.change, ours, c.said)
		}
		kind := strings.Fields(c.object)[0]
		if kinds[kind] == nil {
			kinds[kind] = &tally{}
		}
		kinds[kind].count(len(c.said) > 0, len(ours) > 0)
		cases++
		found += len(c.said) - len(lacking)
		others += otherValues
		if len(c.said) > 0 {
			refused++
			if len(lacking) == 0 {
				complete++
			}
			if slices.Equal(ours, c.said) {
				identical++
			}
		}
		for _, e := range lacking {
			gaps[kind+" "+general(essence(e))]++
		}
		return true
	})
	lacking := 0
	for _, n := range gaps {
		lacking += n
	}
	t.Logf("%d cases, %d refused: all errors found in %d, identical answers in %d; %d errors found (%d show another value), %d not", cases, refused, complete, identical, found, others, lacking)
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		t.Logf("%s: %v", kind, *kinds[kind])
	}
	return slices.Sorted(maps.Keys(gaps))
}

// tally counts who refused.
type tally struct{ both, neither, onlyTheirs, onlyOurs int }

func (n *tally) count(theirs, ours bool) {
	switch {
	case theirs && ours:
		n.both++
	case theirs:
		n.onlyTheirs++
	case ours:
		n.onlyOurs++
	default:
		n.neither++
	}
}

func (n tally) String() string {
	return fmt.Sprintf("%d refused by both, %d accepted by both, %d refused by kube-apiserver alone, %d by us alone", n.both, n.neither, n.onlyTheirs, n.onlyOurs)
}

// general leaves out what differs from case to case.
func general(said string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '0'
		}
		return r
	}, said)
}

// compareGaps wants every gap to be listed, and everything that is listed to be a gap still.
func compareGaps(t *testing.T, gaps []string) {
	known := readGaps(t)
	for _, gap := range gaps {
		found := false
		for line := range known {
			start, isStart := strings.CutSuffix(line, "…")
			if line == gap || isStart && strings.HasPrefix(gap, start) {
				found, known[line] = true, true
			}
		}
		if !found {
			t.Errorf("kube-apiserver says, and we do not: %s", gap)
		}
	}
	for line, isGap := range known {
		if !isGap && !testing.Short() {
			t.Errorf("gaps.txt: we say this too by now: %s", line)
		}
	}
}

// readGaps reads the list of gaps: paragraphs that start with a comment, which says why.
func readGaps(t *testing.T) map[string]bool {
	content, err := os.ReadFile(verdictsFolder + "gaps.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for paragraph := range strings.SplitSeq(strings.TrimSpace(string(content)), "\n\n") {
		if !strings.HasPrefix(paragraph, "#") {
			t.Errorf("gaps.txt: expected a reason before %s", paragraph)
		}
		for line := range strings.Lines(paragraph) {
			if line = strings.TrimSpace(line); line[0] != '#' {
				known[line] = false
			}
		}
	}
	return known
}

// pointerNames undoes what JSON pointers do to names.
var pointerNames = strings.NewReplacer("~1", "/", "~0", "~")
