package applytest

import (
	"strings"
	"testing"

	"github.com/cadastre/cadastre/document"
)

// TestFieldsOfResponses checks the variables that refer to fields of earlier responses.
func TestFieldsOfResponses(t *testing.T) {
	body, err := document.ParseYAML([]byte(`{items: [{name: a, port: 80}, {name: b}, {name: c, port: 80}]}`))
	if err != nil {
		t.Fatal(err)
	}
	v := variables{responses: map[string]*serverResponse{"the list": {body: body}}}
	for text, want := range map[string]string{
		"${the list .items[0].port}":                "80",
		`${the list .items[name="b"]}`:              `{"name":"b"}`,
		`${the list .items[name="c",port=80].name}`: "c",
		"${the list .items[3]}":                     "the response does not contain .items[3]",
		"${the list .items[-1]}":                    "the response does not contain .items[-1]",
		`${the list .items[name="d"].port}`:         `the response does not contain .items[name="d"].port`,
		"${another list .items}":                    "expected an earlier response with this value, found none",
		"${the list .items[}":                       "at byte 7",
	} {
		got, err := v.expand(text)
		if err != nil {
			got = err.Error()
		}
		if got != want && (err == nil || !strings.Contains(got, want)) {
			t.Errorf("expand(%s) = %s, want %s", text, got, want)
		}
	}
}
