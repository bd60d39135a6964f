package fieldset

import (
	"errors"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/document"
)

func TestParsePath(t *testing.T) {
	key := func(name string, v any) Element { return KeyElement(KeyField{name, fromGo(v)}) }
	val := func(v any) Element { return ValueElement(fromGo(v)) }
	for _, test := range []struct {
		text string
		want Path
	}{
		{"", nil},
		{".spec", Names("spec")},
		{"spec", Names("spec")},
		{".spec.template.spec.containers[name=\"app\"].image", append(append(Names("spec", "template", "spec", "containers"), key("name", "app")), NameElement("image"))},
		{`.metadata.labels."example.com/app"`, Names("metadata", "labels", "example.com/app")},
		{`"example.com/app".b`, Names("example.com/app", "b")},
		{`.""`, Names("")},
		{`."\u00e9\n".é`, Names("é\n", "é")},
		{".a-b_c/d:e f", Names("a-b_c/d:e f")},
		{".a]b", Names("a]b")},
		{"[0]", Path{IndexElement(0)}},
		{".a[12].b", Path{NameElement("a"), IndexElement(12), NameElement("b")}},
		{"[-1]", Path{IndexElement(-1)}},
		{`[="x"]`, Path{val("x")}},
		{`[=""]`, Path{val("")}},
		{"[=1]", Path{val(1)}},
		{"[=1.0]", Path{val(1)}},
		{"[=-2.5]", Path{val(-2.5)}},
		{"[=true]", Path{val(true)}},
		{"[=null]", Path{val(nil)}},
		{"[=[1,[2]]]", Path{val([]any{1, []any{2}})}},
		{`[={"a":"]"}]`, Path{val(map[string]any{"a": "]"})}},
		{`[="]"]`, Path{val("]")}},
		{`[="a\"]"]`, Path{val(`a"]`)}},
		{"[]", Path{KeyElement()}},
		{`[port=80,protocol="TCP"]`, Path{KeyElement(KeyField{"port", document.NewInt(80)}, KeyField{"protocol", document.NewString("TCP")})}},
		{`[protocol="TCP",port=80]`, Path{KeyElement(KeyField{"port", document.NewInt(80)}, KeyField{"protocol", document.NewString("TCP")})}},
		{`["a=b"=null]`, Path{key("a=b", nil)}},
		{`[""=false]`, Path{key("", false)}},
		{`["]"=1]`, Path{key("]", 1)}},
		{`[a=[1,2],b={"c":[]}]`, Path{KeyElement(KeyField{"a", fromGo([]any{1, 2})}, KeyField{"b", fromGo(map[string]any{"c": []any{}})})}},
	} {
		got, err := ParsePath(test.text)
		if err != nil || !got.Equal(test.want) || len(got) != len(test.want) {
			t.Errorf("ParsePath(%s) = %s, %v, want %s", test.text, got.Quoted(), err, test.want.Quoted())
		}
	}
}

func TestQuoted(t *testing.T) {
	for _, test := range []struct {
		path Path
		want string
	}{
		{nil, ""},
		{Names("spec", "image"), ".spec.image"},
		{Names("app.kubernetes.io/name", "", "a b", "é", "a\x00", "\u2028", `"`, `\`, "x=y"), `."app.kubernetes.io/name".""."a b".é."a\x00"."\u2028"."\""."\\"."x=y"`},
		{Path{IndexElement(3), ValueElement(document.NewString("a\tb")), ValueElement(fromGo([]any{"x", 1}))}, `[3][="a\tb"][=["x",1]]`},
		{Path{KeyElement(KeyField{"b.c", document.NewInt(1)}, KeyField{"a", document.NewString("]")})}, `[a="]","b.c"=1]`},
		{Path{KeyElement()}, "[]"},
	} {
		if got := test.path.Quoted(); got != test.want {
			t.Errorf("Quoted() = %s, want %s", got, test.want)
		}
	}
}

func TestQuotedRoundTrip(t *testing.T) {
	for seed := range uint64(3000) {
		r := newRand(seed)
		for _, p := range randomSetPair(r, randomElements(r)).paths {
			if back, err := ParsePath(p.Quoted()); err != nil || !back.Equal(p) {
				t.Fatalf("seed %d: ParsePath(%s) = %s, %v, want the same path", seed, p.Quoted(), back.Quoted(), err)
			}
		}
	}
}

// TestParsePathErrors checks that errors contain the offset, the expected and the received text.
func TestParsePathErrors(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{".", `path ".": at byte 1: expected a field name, received the end; an empty name is written ""`},
		{".a.", `path ".a.": at byte 3: expected a field name, received the end; an empty name is written ""`},
		{"a..b", `path "a..b": at byte 2: expected a field name, received ".b"; an empty name is written ""`},
		{".[0]", `path ".[0]": at byte 1: expected a field name, received "[0]"; an empty name is written ""`},
		{`."a`, `path ".\"a": at byte 1: expected a string in quotes, received "\"a"`},
		{`."a"b`, `path ".\"a\"b": at byte 4: expected . or [, received "b"`},
		{"a[0]b", `path "a[0]b": at byte 4: expected . or [, received "b"`},
		{"a[x]", `path "a[x]": at byte 2: expected an index, key=value or =value, received "x]"`},
		{"a[99999999999999999999]", `path "a[99999999999999999999]": at byte 2: expected an index, key=value or =value, received "99999999999999999999]"`},
		{"a[", `path "a[": at byte 2: expected a key's name, received the end; an empty name is written ""`},
		{"a[0", `path "a[0": at byte 3: expected = and the key's value, or ], received the end`},
		{"a[k", `path "a[k": at byte 3: expected = and the key's value, or ], received the end`},
		{"a[k=", `path "a[k=": at byte 4: expected a string in quotes, or JSON such as 1, true or null, received the end`},
		{"a[k=x]", `path "a[k=x]": at byte 4: expected a string in quotes, or JSON such as 1, true or null, received "x]"`},
		{"a[k=1", `path "a[k=1": at byte 5: expected ], received the end`},
		{"a[k=1,]", `path "a[k=1,]": at byte 6: expected a key's name, received "]"; an empty name is written ""`},
		{`a["k"]`, `path "a[\"k\"]": at byte 5: expected = and the key's value, received "]"`},
		{"a[=]", `path "a[=]": at byte 3: expected a string in quotes, or JSON such as 1, true or null, received "]"`},
		{"a[=1,2]", `path "a[=1,2]": at byte 4: expected ], received ",2]"`},
		{`a[="x"`, `path "a[=\"x\"": at byte 6: expected ], received the end`},
		{`a[='x']`, `path "a[='x']": at byte 3: expected a string in quotes, or JSON such as 1, true or null, received "'x']"`},
	} {
		p, err := ParsePath(test.text)
		if err == nil {
			t.Errorf("ParsePath(%s) = %s, want an error", test.text, p.Quoted())
		} else if syntax := (*SyntaxError)(nil); err.Error() != test.want || !errors.As(err, &syntax) {
			t.Errorf("ParsePath(%s) error =\n%v\nwant\n%s", test.text, err, test.want)
		}
	}
	if _, err := ParsePath("[" + strings.Repeat("x", 1<<20)); err == nil || len(err.Error()) > 1000 {
		t.Errorf("ParsePath() of an invalid path of 1 MiB: error = %.200v, want an error of at most 1000 bytes", err)
	}
}
