package server

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestWarnings checks that duplicate warnings are omitted, and that the total size of the warnings of a response is limited.
func TestWarnings(t *testing.T) {
	long := strings.Repeat("é", 300)
	cut := strings.Repeat("é", maxTruncatedWarning-2)
	for _, test := range []struct {
		name string
		add  func(add func(string))
		want func(yield func(string))
	}{
		{"few", func(add func(string)) {
			add("a")
			add(`b"\` + "\r\n")
			add("")
			add("a")
			add(long)
		}, func(yield func(string)) {
			yield("a")
			yield(`b\"\\  `)
			yield(long)
		}},
		{"long", func(add func(string)) { add("xy" + strings.Repeat(long, 20)) }, func(yield func(string)) { yield("xy" + cut) }},
		{"many", func(add func(string)) {
			for i := range 100 {
				add(strconv.Itoa(10+i) + long)
			}
		}, func(yield func(string)) {
			for i := range maxWarningChars / maxTruncatedWarning {
				yield(strconv.Itoa(10+i) + cut)
			}
		}},
	} {
		var s warnings
		header := http.Header{}
		test.add(func(text string) { s.add(header, text) })
		var want []string
		test.want(func(text string) { want = append(want, `299 - "`+text+`"`) })
		if got := header["Warning"]; !slices.Equal(got, want) {
			t.Errorf("%s: headers %q, want %q", test.name, got, want)
		}
	}
}
