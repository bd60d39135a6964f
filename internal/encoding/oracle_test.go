package codec

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// oracleNow is the time at which the oracle was asked.
var oracleNow = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// TestColumnsAsKubernetes compares names, types, formats and priorities of the columns of every kind,
// and what the table of an empty list has as rows.
func TestColumnsAsKubernetes(t *testing.T) {
	var columns []Column
	kinds := 0
	check := func() {
		if len(columns) > 0 {
			t.Errorf("columns are missing: %v", columns)
		}
	}
	for line := range strings.Lines(readTestdata(t, "columns.txt")) {
		line = strings.TrimRight(line, "\n")
		if !strings.HasPrefix(line, " ") {
			check()
			kinds++
			name, rows, _ := strings.Cut(line, " ")
			group, kind, _ := strings.Cut(name, "/")
			c := ColumnsOf(group, kind)
			columns = c.Definitions()
			if empty := map[bool]string{true: "null", false: "[]"}[c.nullRows]; rows != "" && rows != empty {
				t.Errorf("%s: no rows are %s, want %s", name, empty, rows)
			}
			continue
		}
		if len(columns) == 0 {
			t.Errorf("there is no column for %s", line)
			continue
		}
		c := columns[0]
		columns = columns[1:]
		if got := fmt.Sprintf("  %s|%s|%s|%d", c.Name, c.Type, c.Format, c.Priority); got != line {
			t.Errorf("the column is %s, want %s", got, line)
		}
		if c.Description == "" {
			t.Errorf("the column %s has no description", c.Name)
		}
	}
	check()
	if kinds < 55 {
		t.Errorf("the oracle answered for %d kinds", kinds)
	}
}

// TestCellsAsKubernetes compares the cells of objects that people wrote.
func TestCellsAsKubernetes(t *testing.T) {
	if n := compareRows(t, strings.NewReader(readTestdata(t, "written.txt"))); n < 30 {
		t.Errorf("compared %d objects", n)
	}
}

// TestRandomCellsAsKubernetes compares the cells of random objects of every kind.
func TestRandomCellsAsKubernetes(t *testing.T) {
	file, err := os.Open(filepath.Join("testdata", "random.txt.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := compareRows(t, text); n < 500 {
		t.Errorf("compared %d objects", n)
	}
}

// compareRows reads objects (<) and rows (>), and returns how many.
func compareRows(t *testing.T, from io.Reader) (compared int) {
	t.Helper()
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	object := ""
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), "< "); ok {
			object = text
		}
		if row, ok := strings.CutPrefix(lines.Text(), "> "); ok {
			compareRow(t, object, row)
			compared++
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return compared
}

type tableRow struct {
	Cells      []any            `json:"cells"`
	Conditions []map[string]any `json:"conditions"`
}

func compareRow(t *testing.T, object, want string) {
	t.Helper()
	var wantRow tableRow
	decode(t, want, &wantRow)
	var table struct {
		Rows []tableRow `json:"rows"`
	}
	decode(t, string(rowOf(t, object)), &table)
	got := table.Rows[0]
	if !reflect.DeepEqual(got.Conditions, wantRow.Conditions) {
		t.Errorf("%s\nconditions %v\nwant       %v", object, got.Conditions, wantRow.Conditions)
	}
	if len(got.Cells) != len(wantRow.Cells) {
		t.Errorf("%s\n%d cells %v\nwant %d %v", object, len(got.Cells), got.Cells, len(wantRow.Cells), wantRow.Cells)
		return
	}
	for i := range got.Cells {
		if !reflect.DeepEqual(got.Cells[i], wantRow.Cells[i]) {
			t.Errorf("%s\ncell %d is %#v, want %#v", object, i, got.Cells[i], wantRow.Cells[i])
		}
	}
}

// rowOf returns the table that has an object.
func rowOf(t *testing.T, object string) []byte {
	t.Helper()
	var typed struct{ APIVersion, Kind string }
	decode(t, object, &typed)
	group, _, ok := strings.Cut(typed.APIVersion, "/")
	if !ok {
		group = ""
	}
	v := View{Format: Format{Shape: Table}, Columns: ColumnsOf(group, typed.Kind), Now: oracleNow}
	answer, err := AppendObject(nil, v, raw(object))
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

func readTestdata(t *testing.T, name string) string { t.Helper(); return readFile(t, name) }

func readFile(t testing.TB, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
