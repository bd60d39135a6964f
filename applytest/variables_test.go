package applytest

import (
	"strings"
	"testing"

	"github.com/cadastre/cadastre/document"
)

// TestFieldsOfAnswers: a variable is a field of an answer, or a complaint.
func TestFieldsOfAnswers(t *testing.T) {
	body, err := document.ParseYAML([]byte(`{items: [{name: a, port: 80}, {name: b}, {name: c, port: 80}]}`))
	if err != nil {
		t.Fatal(err)
	}
	v := variables{answers: map[string]*answer{"the list": {body: body}}}
	for text, want := range map[string]string{
		"${the list .items[0].port}":                "80",
		`${the list .items[name="b"]}`:              `{"name":"b"}`,
		`${the list .items[name="c",port=80].name}`: "c",
		"${the list .items[3]}":                     "the answer has no .items[3]",
		"${the list .items[-1]}":                    "the answer has no .items[-1]",
		`${the list .items[name="d"].port}`:         `the answer has no .items[name="d"].port`,
		"${another list .items}":                    "there is no answer to take it from yet",
		"${the list .items[}":                       "at byte 7",
	} {
		got, err := v.expand(text)
		if err != nil {
			got = err.Error()
		}
		if got != want && (err == nil || !strings.Contains(got, want)) {
			t.Errorf("%s: received %s, want %s", text, got, want)
		}
	}
}
