package rules

import (
	"bufio"
	"compress/gzip"
	"flag"
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

var updateGaps = flag.Bool("update-gaps", false, "write the errors of kube-apiserver that we do not find to gaps.txt")

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

// forVerdicts visits what kube-apiserver said; the oracle wrote it down.
func forVerdicts(t testing.TB, visit func(verdictCase)) {
	f, err := os.Open(verdictsFolder + "verdicts.txt.gz")
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
	for lines.Scan() {
		parts := strings.Split(lines.Text(), "\t")
		if parts[0] == "object" {
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
		if c.verb == "update" {
			c.old = base
		}
		visit(c)
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
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
	gaps := map[string]int{}
	cases, refused, complete, identical, found, others := 0, 0, 0, 0, 0, 0
	forVerdicts(t, func(c verdictCase) {
		ours := spelled(c.t.Validate(c.doc, c.old))
		lacking, extra, otherValues := outcome(c.said, ours)
		if len(extra) > 0 {
			t.Errorf("%s %s %s:\n ours %q\n theirs %q", c.verb, c.object, c.change, ours, c.said)
		}
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
			gaps[strings.Fields(c.object)[0]+" "+general(essence(e))]++
		}
	})
	lacking := 0
	for _, n := range gaps {
		lacking += n
	}
	t.Logf("%d cases, %d refused: all errors found in %d, identical answers in %d; %d errors found (%d show another value), %d not", cases, refused, complete, identical, found, others, lacking)
	compareGaps(t, slices.Sorted(maps.Keys(gaps)))
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

func compareGaps(t *testing.T, gaps []string) {
	const file = verdictsFolder + "gaps.txt"
	text := "# Errors of kube-apiserver in verdicts.txt.gz that our rules do not find, digits as 0.\n" + strings.Join(gaps, "\n") + "\n"
	if *updateGaps {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != text {
		t.Errorf("%s is not what it was: run go test -run TestVerdicts -update-gaps, and see what changed", file)
	}
}

// pointerNames undoes what JSON pointers do to names.
var pointerNames = strings.NewReplacer("~1", "/", "~0", "~")
