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

const verdictsDir = "testdata/validation/"

// verdictCase is a recorded result of kube-apiserver: its errors or warnings for an object with one change.
type verdictCase struct {
	object   string // object is the kind and name of the unchanged object.
	t        *Type
	verb     string         // verb is the operation, such as create, update or status.
	change   string         // change is the path of the changed field and its new value.
	doc      document.Value // doc is the validated object.
	old      document.Value // old is the object before an update; absent on create.
	messages []string       // messages are kube-apiserver's errors or warnings.
}

// forEachVerdict calls visit with every interval-th case in file, which make oracle-validation recorded, until visit returns
// false.
func forEachVerdict(t testing.TB, file string, interval int, visit func(verdictCase) bool) {
	f, err := os.Open(verdictsDir + file)
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
		if n++; !isObject && n%interval != 0 {
			continue
		}
		parts := strings.Split(lines.Text(), "\t")
		if isObject {
			if base, err = document.ParseJSON([]byte(parts[2])); err != nil {
				t.Fatal(err)
			}
			typ, ok := Builtin("io.k8s.api." + parts[1])
			if !ok {
				t.Fatalf("Builtin(io.k8s.api.%s): ok = false, want true", parts[1])
			}
			c = verdictCase{object: parts[1] + " " + base.Lookup("metadata", "name").Text(), t: typ}
			continue
		}
		c.verb, c.change, c.messages = parts[0], parts[1]+" "+parts[2], nil
		if parts[3] != "" {
			// Errors about a missing resourceVersion are dropped, because the write path reports them before validation.
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

// withGeneration returns doc with the given metadata.generation. If generation equals that of old, withGeneration copies the
// value of old, which is absent if generation is 0.
func withGeneration(t testing.TB, doc, old document.Value, generation string) document.Value {
	n, err := strconv.ParseInt(generation, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	value := old.Lookup("metadata", "generation")
	if oldValue, _ := value.Int64(); oldValue != n {
		value = document.NewInt(n)
	}
	return doc.With("metadata", setField(doc.Get("metadata"), "generation", value))
}

// withValueAt returns v with value at path, the elements of a JSON pointer. If value is absent, withValueAt removes the field
// or item at path.
func withValueAt(v document.Value, path []string, value document.Value) document.Value {
	if len(path) == 0 {
		return value
	}
	name := pointerNames.Replace(path[0])
	if v.Kind() != document.List {
		return v.With(name, withValueAt(v.Get(name), path[1:], value))
	}
	i, err := strconv.Atoi(name)
	if err != nil {
		panic(err)
	}
	var items []document.Value
	for j, item := range v.Items() {
		if j == i {
			item = withValueAt(item, path[1:], value)
		}
		if !item.IsAbsent() {
			items = append(items, item)
		}
	}
	return document.NewList(items...)
}

// errorTexts returns errors in the notation of the recorded files.
func errorTexts(errs field.ErrorList) (texts []string) {
	for _, e := range errs {
		message, _, _ := strings.Cut(e.ErrorBody(), "\n")
		texts = append(texts, fmt.Sprintf("%s %s %s", string(e.Type), e.Field, message))
	}
	return texts
}

// withoutBadValue returns text, an error, without the invalid value that it shows.
func withoutBadValue(text string) string {
	kind, rest, _ := strings.Cut(text, " ")
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

func withoutBadValues(texts []string) (without []string) {
	for _, text := range texts {
		without = append(without, withoutBadValue(text))
	}
	return without
}

// isUnordered reports whether the order of kube-apiserver's errors for c is random, because it validates the values of a map that
// the change sets.
func isUnordered(c verdictCase) bool {
	path, value, _ := strings.Cut(c.change, " ")
	return strings.Count(value, ":") > 1 && slices.Contains([]string{"/spec/metadata", "/status/capacity", "/status/allocatedResources"}, path)
}

// compareErrors compares the errors that validation returned with the errors of kube-apiserver. lacking contains the errors
// that only kube-apiserver reports, extra the errors that only validation returned. otherValues is the number of errors that
// differ only in the invalid value that they show.
func compareErrors(want, got []string) (lacking, extra []string, otherValues int) {
	left := slices.Clone(got)
	for _, e := range want {
		i := slices.Index(left, e)
		if i < 0 {
			if i = slices.IndexFunc(left, func(o string) bool { return withoutBadValue(o) == withoutBadValue(e) }); i >= 0 {
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

// TestVerdicts checks validation against recorded results of kube-apiserver: Validate must not return errors that
// kube-apiserver does not report, and gaps.txt must list the errors that Validate does not return.
func TestVerdicts(t *testing.T) {
	compareGaps(t, compareVerdicts(t, "verdicts.txt.gz", (*Type).Validate))
}

// TestStatusVerdicts checks that the validation of status updates returns the same errors as kube-apiserver did.
func TestStatusVerdicts(t *testing.T) {
	validate := func(typ *Type, obj, live document.Value) field.ErrorList {
		return typ.ValidateSubresource("status", obj, live)
	}
	for _, gap := range compareVerdicts(t, "statuses.txt.gz", validate) {
		t.Errorf("ValidateSubresource(\"status\") does not return the error %s, which kube-apiserver returns", gap)
	}
}

// compareVerdicts compares the results of validate with kube-apiserver's results, which file contains. It fails the test for
// errors that only validate returns, and returns the errors that only kube-apiserver reports.
func compareVerdicts(t *testing.T, file string, validate func(typ *Type, obj, old document.Value) field.ErrorList) []string {
	gaps := map[string]int{}
	kinds := map[string]*tally{}
	cases, refused, complete, identical, found, others := 0, 0, 0, 0, 0, 0
	every := 1
	if testing.Short() {
		every = 10
	}
	forEachVerdict(t, file, every, func(c verdictCase) bool {
		got := errorTexts(validate(c.t, c.doc, c.old))
		lacking, extra, otherValues := compareErrors(c.messages, got)
		if len(extra) > 0 {
			t.Errorf("errors for %s of %s with %s:\ngot  %q\nwant %q", c.verb, c.object, c.change, got, c.messages)
		}
		if len(lacking)+len(extra) == 0 && !slices.Equal(withoutBadValues(got), withoutBadValues(c.messages)) && !isUnordered(c) {
			t.Errorf("order of errors for %s of %s with %s:\ngot  %q\nwant %q", c.verb, c.object, c.change, got, c.messages)
		}
		kind := strings.Fields(c.object)[0]
		if kinds[kind] == nil {
			kinds[kind] = &tally{}
		}
		kinds[kind].count(len(c.messages) > 0, len(got) > 0)
		cases++
		found += len(c.messages) - len(lacking)
		others += otherValues
		if len(c.messages) > 0 {
			refused++
			if len(lacking) == 0 {
				complete++
			}
			if slices.Equal(got, c.messages) {
				identical++
			}
		}
		for _, e := range lacking {
			gaps[kind+" "+withoutDigits(withoutBadValue(e))]++
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

// tally counts the cases of a kind by whether kube-apiserver and Cadastre reject the object.
type tally struct{ both, neither, onlyKubernetes, onlyCadastre int }

func (counts *tally) count(byKubernetes, byCadastre bool) {
	switch {
	case byKubernetes && byCadastre:
		counts.both++
	case byKubernetes:
		counts.onlyKubernetes++
	case byCadastre:
		counts.onlyCadastre++
	default:
		counts.neither++
	}
}

func (counts tally) String() string {
	return fmt.Sprintf("%d rejected by both, %d accepted by both, %d rejected only by kube-apiserver, %d only by Cadastre", counts.both, counts.neither, counts.onlyKubernetes, counts.onlyCadastre)
}

// withoutDigits returns text, an error, with 0 instead of each digit, so that errors of different list items are equal.
func withoutDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '0'
		}
		return r
	}, text)
}

// compareGaps checks that gaps.txt lists exactly the gaps: the errors that only kube-apiserver reports.
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
			t.Errorf("Validate() does not return the error %s, which kube-apiserver returns; fix Validate or add the error to gaps.txt", gap)
		}
	}
	for line, isGap := range known {
		if !isGap && !testing.Short() {
			t.Errorf("gaps.txt lists the error %s, but validation returns it; remove the line", line)
		}
	}
}

// readGaps returns the lines of gaps.txt as the keys of a map. The file consists of paragraphs, each of which starts with a
// comment that states the reason for its gaps.
func readGaps(t *testing.T) map[string]bool {
	content, err := os.ReadFile(verdictsDir + "gaps.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for paragraph := range strings.SplitSeq(strings.TrimSpace(string(content)), "\n\n") {
		if !strings.HasPrefix(paragraph, "#") {
			t.Errorf("paragraph of gaps.txt: got %s, want a comment with the reason in its first line", paragraph)
		}
		for line := range strings.Lines(paragraph) {
			if line = strings.TrimSpace(line); line[0] != '#' {
				known[line] = false
			}
		}
	}
	return known
}

// pointerNames replaces the escape sequences in the elements of JSON pointers with the escaped characters.
var pointerNames = strings.NewReplacer("~1", "/", "~0", "~")
