package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/yaml"
)

var yamlStreams = []struct{ text, want string }{
	{"", ``},
	{"\n\n", ``},
	{"---\n---\n# nothing\n---\n", ``},
	{"a: 1", `{"a":1}`},
	{"a: 1\n---\nb: 2\n", `{"a":1} {"b":2}`},
	{"---\na: 1\n---\n---\n\n---\nnull\n---\nb: 2\n---", `{"a":1} {"b":2}`},
	{"# head\n---\na: 1\n--- # comment\nb: 2\n---   \nc: 3", `{"a":1} {"b":2} {"c":3}`},
	{"a: |\n  x\n  ---\n  y\n---\nb: ' --- '", `{"a":"x\n---\ny\n"} {"b":" --- "}`},
	{"a: 1\r\n---\r\nb: 2\r\n", `{"a":1} {"b":2}`},
	{`{"a":1}`, `{"a":1}`},
	{` {"a":1}{"b":2} ` + "\n" + `{"c":3}`, `{"a":1} {"b":2} {"c":3}`},
	{"{\"a\":1}\n---\n{\"b\":2}\n", `{"a":1} {"b":2}`},
	{"{\"a\":1}\n---\nb: 2\n---\n{\"c\":3}", `{"a":1} {"b":2} {"c":3}`},
	{"{a: 1}\n---\n{b: 2}", `{"a":1} {"b":2}`},
	{"{\"a\":1}\nb: 2\n", `{"a":1} {"b":2}`},
	{"{\"a\":\"}\\\"{\"}{\"b\":[{}]}", `{"a":"}\"{"} {"b":[{}]}`},
	{"- 1\n---\nx", `[1] "x"`},
}

func TestYAMLStream(t *testing.T) {
	for _, test := range yamlStreams {
		got, err := readStream(test.text)
		if err != nil || got != test.want {
			t.Errorf("%q:\ngot  %s, %v\nwant %s", test.text, got, err, test.want)
		}
		if upstream, err := kubectlStream(test.text); err != nil || upstream != test.want {
			t.Errorf("%q: kubectl's decoder returns %s, %v, want %s", test.text, upstream, err, test.want)
		}
	}
}

func readStream(text string) (string, error) {
	var all []string
	for v, err := range ParseYAMLStream([]byte(text), Limits{}) {
		if err != nil {
			return strings.Join(all, " "), err
		}
		all = append(all, v.JSON())
	}
	return strings.Join(all, " "), nil
}

// kubectlStream parses a stream with the decoder of kubectl's resource builder.
func kubectlStream(text string) (string, error) {
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
	var all []string
	for {
		var raw json.RawMessage
		if err := decoder.Decode(&raw); errors.Is(err, io.EOF) {
			return strings.Join(all, " "), nil
		} else if err != nil {
			return strings.Join(all, " "), err
		}
		if raw = bytes.TrimSpace(raw); len(raw) > 0 && string(raw) != "null" {
			all = append(all, string(raw))
		}
	}
}

func TestYAMLStreamErrors(t *testing.T) {
	for _, test := range []struct{ text, read, want string }{
		{"a: 1\n---\nb: 2\n---\nc:\n  d: @x\n", `{"a":1} {"b":2}`, "line 6, column 6: .c.d: expected a value, received a character that can't start one; quote it"},
		{"a: 1\n--- b\n", ``, "line 2, column 4: expected --- to stand alone on its line; start the document on the next one"},
		{"a: 1\n---b\n", ``, "line 2, column 4: expected --- to stand alone on its line; start the document on the next one"},
		{"{\"a\":1}\n{\"b\":2}\n{\"c\":}", `{"a":1} {"b":2}`, "line 3, column 6: .c: expected a value, received '}'"},
		{"{\"a\":1}\n---\n\n{\"b\": x y: z}", `{"a":1}`, "line 4, column 7: expected ',' or '}'"},
		{"a: 1\na: 2\n", ``, "line 2, column 1: .a: the field occurs twice in one map, first on line 1, column 1; remove one of them"},
		{"x: 1\n---\na: 1\na: 2\n", `{"x":1}`, "line 4, column 1: .a: the field occurs twice in one map, first on line 3, column 1; remove one of them"},
	} {
		read, err := readStream(test.text)
		if read != test.read || err == nil || err.Error() != test.want {
			t.Errorf("%q:\ngot   %s\nerror %v\nwant  %s", test.text, read, err, test.want)
		}
	}
}

func TestYAMLStreamLimits(t *testing.T) {
	limits := Limits{MaxBytes: 20}
	text := strings.Repeat("a: 12345678\n---\n", 10)
	count := 0
	for _, err := range ParseYAMLStream([]byte(text), limits) {
		if err != nil {
			t.Fatal(err)
		}
		count++
	}
	if count != 10 {
		t.Errorf("got %d documents, want 10", count)
	}
	for _, text := range []string{"a: 1\n---\nb: 1234567890123456789012345\n", `{"a":1}{"b":2}{"c":"1234567890123456"}`} {
		var last error
		for _, last = range ParseYAMLStream([]byte(text), limits) {
		}
		if last == nil || !strings.Contains(last.Error(), "more than the limit of 20") {
			t.Errorf("%q: last error = %v, want \"more than the limit of 20\"", text, last)
		}
	}
	for range ParseYAMLStream([]byte(text), limits) {
		break
	}
}
