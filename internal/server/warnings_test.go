package server

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// warnedOf returns the headers after some warnings.
func warnedOf(texts ...string) []string {
	recorder := httptest.NewRecorder()
	q := &request{w: answer{ResponseWriter: recorder}}
	for _, text := range texts {
		q.warn(text)
	}
	return recorder.Header().Values("Warning")
}

func TestWarnings(t *testing.T) {
	long := func(c string) string { return strings.Repeat(c, 2000) }
	cut := func(c string) string { return `299 - "` + strings.Repeat(c, mostCut) + `"` }
	var many, sent []string
	for i := range 30 {
		many = append(many, strings.Repeat(string(rune('a'+i)), 300))
		if i < mostWarned/mostCut {
			sent = append(sent, cut(string(rune('a'+i))))
		}
	}
	for name, test := range map[string]struct{ texts, want []string }{
		"once each":  {[]string{"a", "b", "", "a"}, []string{`299 - "a"`, `299 - "b"`}},
		"quoted":     {[]string{"a \"b\"\\\n"}, []string{`299 - "a \"b\"\\ "`}},
		"just room":  {[]string{long("a"), long("b")}, []string{`299 - "` + long("a") + `"`, `299 - "` + long("b") + `"`}},
		"no room":    {[]string{long("a"), long("b"), long("c")}, []string{cut("a"), cut("b"), cut("c")}},
		"no more":    {many, sent},
		"characters": {[]string{long("é"), long("ü"), long("ö")}, []string{cut("é"), cut("ü"), cut("ö")}},
	} {
		if got := warnedOf(test.texts...); !slices.Equal(got, test.want) {
			t.Errorf("%s: headers %q, want %q", name, got, test.want)
		}
	}
}
