package ownership

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/schema"
)

var update = flag.Bool("update", false, "update the golden files")

// TestBlame compares the output of Blame for each testdata/NAME.yaml with NAME.blame. If the output without a schema
// differs from NAME.blame, it is compared with NAME-no-schema.blame. NAME@VERSION.yaml is the object at another version;
// the test compares the output without that version with NAME-one-version.blame.
func TestBlame(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("testdata/*.yaml: got files %v, error %v; want at least one file", files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if strings.Contains(name, "@") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			o, others := readYAML(t, string(text)), otherVersions(t, name)
			with, without := formatBlame(t, o, builtinType(t, o), others...), formatBlame(t, o, nil, others...)
			compareGolden(t, "testdata/"+name+".blame", with)
			if without != with {
				compareGolden(t, "testdata/"+name+"-no-schema.blame", without)
			}
			if len(others) > 0 {
				compareGolden(t, "testdata/"+name+"-one-version.blame", formatBlame(t, o, builtinType(t, o)))
			}
		})
	}
}

// otherVersions returns the documents in the files testdata/NAME@VERSION.yaml for the given NAME, nil if no such file
// exists.
func otherVersions(t *testing.T, name string) []document.Value {
	t.Helper()
	files, err := filepath.Glob("testdata/" + name + "@*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var docs []document.Value
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, readYAML(t, string(text)).Document)
	}
	return docs
}

// builtinType returns the schema of an object's kind, which must be built in.
func builtinType(t *testing.T, o apply.Object) *schema.Type {
	t.Helper()
	group, version, found := strings.Cut(o.Document.Get("apiVersion").Text(), "/")
	if !found {
		group, version = "", group
	}
	kind, ok := api.BuiltinTopology(group, version, o.Document.Get("kind").Text())
	if !ok {
		t.Fatalf("schema of kind %s: got none, want that of a built-in kind", o.Document.Get("kind"))
	}
	return kind
}

// compareGolden fails the test unless got equals the contents of the golden file. With the flag -update, it first writes
// got to the file.
func compareGolden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || got != string(want) {
		t.Errorf("%s: error = %v; got\n%s\nwant\n%s", file, err, got, want)
	}
}

// formatBlame formats the lines that Blame returns, and checks that they are the YAML of the object.
func formatBlame(t *testing.T, o apply.Object, kind *schema.Type, others ...document.Value) string {
	t.Helper()
	lines, err := Blame(o, kind, others...)
	if err != nil {
		t.Fatal(err)
	}
	var b, yaml strings.Builder
	for _, line := range lines {
		var columns []string
		for _, e := range line.Owners {
			columns = append(columns, e.Manager+"/"+string(e.Operation))
		}
		for _, e := range line.ItemOwners {
			columns = append(columns, "item:"+e.Manager+"/"+string(e.Operation))
		}
		if line.State != Owned {
			columns = append(columns, []string{Unowned: "(unowned)", Container: ".", Untracked: "(untracked)", Absent: "(absent)", OtherVersion: "(other version)", Uncertain: "(uncertain)"}[line.State])
		}
		fmt.Fprintf(&b, "%-44s| %s\n", strings.Join(columns, " "), line.Text)
		if line.State != Absent && line.State != OtherVersion {
			yaml.WriteString(line.Text + "\n")
		}
	}
	again, err := document.ParseYAML([]byte(yaml.String()))
	if err != nil || !document.Equal(again, o.Document) {
		t.Errorf("lines of Blame() parsed as YAML: error = %v, want the object %s; the lines are\n%s", err, o.Document, yaml.String())
	}
	return b.String()
}
