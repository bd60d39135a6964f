package builtin

import (
	"compress/gzip"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/document"
)

// TestGolden compares the results of decoding and defaulting with results of Kubernetes' code, which test/oracle/defaults
// recorded in golden.txt.gz.
func TestGolden(t *testing.T) {
	lines := goldenLines(t)
	if len(lines) < 300 {
		t.Fatalf("golden.txt.gz: got %d lines, want at least 300", len(lines))
	}
	for _, line := range lines {
		parts := strings.Split(line, "\t")
		if len(parts) != 4 {
			t.Fatalf("line of golden.txt.gz: got %q, want type, input, result and unknown fields", line)
		}
		of, ok := Builtin(parts[0])
		if !ok {
			t.Errorf("Builtin(%s): ok = false, want true", parts[0])
			continue
		}
		if result, unknown := readAndDefault(t, of, parts[1]); result != parts[2] || unknown != parts[3] {
			t.Errorf("Default(Decode()) of %s %s\nwant %s, unknown %q\ngot  %s, unknown %q", parts[0], parts[1], parts[2], parts[3], result, unknown)
		}
	}
}

func goldenLines(t testing.TB) []string {
	t.Helper()
	file, err := os.Open("testdata/golden.txt.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")[1:] // the first line is a comment
}

// readAndDefault decodes and defaults a document, and returns the result in the notation of the golden file: JSON and unknown
// fields, or ! and the error.
func readAndDefault(t *testing.T, typ *Type, text string) (result, unknown string) {
	t.Helper()
	doc, err := document.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	read, dropped, err := typ.Decode(doc)
	unknown = strings.Join(dropped, " ")
	if err != nil {
		return "!" + err.Error(), unknown
	}
	full := typ.Default(read)
	requireIdempotent(t, typ, full)
	return full.JSON(), unknown
}

// requireIdempotent checks that decoding and defaulting do not change a document that has been decoded and defaulted, nor a copy
// of it that was encoded and parsed.
func requireIdempotent(t *testing.T, typ *Type, doc document.Value) {
	t.Helper()
	again, err := document.ParseJSON([]byte(doc.JSON()))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []document.Value{doc, again} {
		read, unknown, err := typ.Decode(v)
		if err != nil || len(unknown) > 0 || !document.Same(read, v) {
			t.Errorf("Decode() of a decoded document:\ngot  %v, unknown %q, error %v\nwant %v", read, unknown, err, v)
		}
		if twice := typ.Default(v); !document.Same(twice, v) {
			t.Errorf("Default() of a defaulted document:\ngot  %v\nwant %v", twice, v)
		}
	}
}

// TestEveryRuleIsCovered checks that golden documents cover all default rules: if a rule is removed, the result of at least
// one golden document must change.
func TestEveryRuleIsCovered(t *testing.T) {
	types, err := readTable()
	if err != nil {
		t.Fatal(err)
	}
	inputs := goldenInputs(t, types)
	for _, of := range types.types {
		all := of.rules
		for i := range all {
			of.rules = slices.Delete(slices.Clone(all), i, i+1)
			if all[i].currentTime || slices.ContainsFunc(inputs, func(in goldenInput) bool { return in.of.Default(in.doc).JSON() != in.want }) {
				continue
			}
			t.Errorf("default rule %d of %s: got the same results for all golden documents without it, want a document that covers it", i+1, of.Name)
		}
		of.rules = all
	}
}

// goldenInput is a decoded document with the expected result of defaulting.
type goldenInput struct {
	of   *Type
	doc  document.Value
	want string
}

func goldenInputs(t *testing.T, types *table) (inputs []goldenInput) {
	t.Helper()
	for _, line := range goldenLines(t) {
		parts := strings.Split(line, "\t")
		of := types.structs[parts[0]]
		if read, _, err := of.Decode(parse(t, parts[1])); err == nil {
			inputs = append(inputs, goldenInput{of, read, parts[2]})
		}
	}
	return inputs
}
