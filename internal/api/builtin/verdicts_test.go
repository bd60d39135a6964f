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

// verdictCase is kube-apiserver's result for an object with one change.
type verdictCase struct {
	object   string // the object's kind and name
	t        *Type
	verb     string
	change   string
	doc      document.Value
	old      document.Value
	messages []string
}

// forVerdicts calls visit with every n-th recorded case of the oracle, until visit returns false.
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
				t.Fatalf("%s: no such type", parts[1])
			}
			c = verdictCase{object: parts[1] + " " + base.Lookup("metadata", "name").Text(), t: typ}
			continue
		}
		c.verb, c.change, c.messages = parts[0], parts[1]+" "+parts[2], nil
		if parts[3] != "" {
			// The write path checks resourceVersion, not validation.
			c.messages = slices.DeleteFunc(parts[3:], func(e string) bool { return strings.Contains(e, "must be specified for an update") })
		}
		var value document.Value
		if parts[2] != "" {
			if value, err = document.ParseJSON([]byte(parts[2])); err != nil {
				t.Fatal(err)
			}
		}
		c.doc = withValueAt(base, strings.Split(parts[1][1:], "/"), value)
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

// withGeneration sets the generation of an object: that of the old object if it is equal, which may be absent.
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

// withValueAt returns a copy with another value at a path; an absent value removes the field or item.
func withValueAt(v document.Value, at []string, value document.Value) document.Value {
	if len(at) == 0 {
		return value
	}
	name := pointerNames.Replace(at[0])
	if v.Kind() != document.List {
		return v.With(name, withValueAt(v.Get(name), at[1:], value))
	}
	i, err := strconv.Atoi(name)
	if err != nil {
		panic(err)
	}
	var items []document.Value
	for j, item := range v.Items() {
		if j == i {
			item = withValueAt(item, at[1:], value)
		}
		if !item.IsAbsent() {
			items = append(items, item)
		}
	}
	return document.NewList(items...)
}

func errorTexts(errs field.ErrorList) (said []string) {
	for _, e := range errs {
		message, _, _ := strings.Cut(e.ErrorBody(), "\n")
		said = append(said, fmt.Sprintf("%s %s %s", string(e.Type), e.Field, message))
	}
	return said
}

// essence returns an error without the value that it shows.
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

// compareErrors compares kube-apiserver's errors with ours: those that we lack, those that only we report, and the number of
// those that differ in the shown value only.
func compareErrors(theirs, ours []string) (lacking, extra []string, otherValues int) {
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

// TestVerdicts replays kube-apiserver's validation results. We must not report errors that it does not report; errors
// that we do not report must be listed in gaps.txt.
func TestVerdicts(t *testing.T) {
	compareGaps(t, replay(t, "verdicts.txt.gz", (*Type).Validate))
}

// TestStatusVerdicts replays kube-apiserver's validation results of status updates. None may be missing.
func TestStatusVerdicts(t *testing.T) {
	for _, gap := range replay(t, "statuses.txt.gz", (*Type).ValidateStatus) {
		t.Errorf("missing error of kube-apiserver: %s", gap)
	}
}

// replay compares kube-apiserver's results with ours, and returns the errors that we do not report.
func replay(t *testing.T, file string, validate func(typ *Type, obj, old document.Value) field.ErrorList) []string {
	gaps := map[string]int{}
	kinds := map[string]*tally{}
	cases, refused, complete, identical, found, others := 0, 0, 0, 0, 0, 0
	every := 1
	if testing.Short() {
		every = 10
	}
	forVerdicts(t, file, every, func(c verdictCase) bool {
		ours := errorTexts(validate(c.t, c.doc, c.old))
		lacking, extra, otherValues := compareErrors(c.messages, ours)
		if len(extra) > 0 {
			t.Errorf("%s %s %s:\n ours %q\n theirs %q", c.verb, c.object, c.change, ours, c.messages)
		}
		kind := strings.Fields(c.object)[0]
		if kinds[kind] == nil {
			kinds[kind] = &tally{}
		}
		kinds[kind].count(len(c.messages) > 0, len(ours) > 0)
		cases++
		found += len(c.messages) - len(lacking)
		others += otherValues
		if len(c.messages) > 0 {
			refused++
			if len(lacking) == 0 {
				complete++
			}
			if slices.Equal(ours, c.messages) {
				identical++
			}
		}
		for _, e := range lacking {
			gaps[kind+" "+withoutDigits(essence(e))]++
		}
		return true
	})
	lacking := 0
	for _, n := range gaps {
		lacking += n
	}
	t.Logf("%d cases, %d rejected: all errors found in %d, identical errors in %d; %d errors found (%d show another value), %d not", cases, refused, complete, identical, found, others, lacking)
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		t.Logf("%s: %v", kind, *kinds[kind])
	}
	return slices.Sorted(maps.Keys(gaps))
}

// tally counts rejections.
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
	return fmt.Sprintf("%d rejected by both, %d accepted by both, %d rejected by kube-apiserver only, %d by us only", n.both, n.neither, n.onlyTheirs, n.onlyOurs)
}

// withoutDigits replaces digits, which differ from case to case.
func withoutDigits(said string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '0'
		}
		return r
	}, said)
}

// compareGaps requires that every gap is listed, and that every listed gap still exists.
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
			t.Errorf("missing error of kube-apiserver: %s", gap)
		}
	}
	for line, isGap := range known {
		if !isGap && !testing.Short() {
			t.Errorf("gaps.txt: the error is reported, remove the line: %s", line)
		}
	}
}

// readGaps reads the list of gaps: paragraphs that start with a comment with the reason.
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

// pointerNames decodes the escapes of JSON pointers.
var pointerNames = strings.NewReplacer("~1", "/", "~0", "~")
