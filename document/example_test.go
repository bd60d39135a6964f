package document_test

import (
	"errors"
	"fmt"

	"github.com/cadastre/cadastre/document"
)

// The package example parses a document, modifies it and writes it.
func Example() {
	v, err := document.ParseYAML([]byte("replicas: 3\nimage: web:1"))
	if err != nil {
		fmt.Println(err)
		return
	}
	v = v.With("replicas", document.NewInt(5))
	fmt.Println(v.Get("image").Text(), v.JSON())
	// Output: web:1 {"image":"web:1","replicas":5}
}

func ExampleParseJSON() {
	v, err := document.ParseJSON([]byte(`{ "replicas": 3, "paused": null, "ratio": 1.0 }`))
	if err != nil {
		panic(err)
	}
	fmt.Println(v)
	fmt.Println(v.Get("paused").IsNull(), v.Get("missing").IsAbsent())
	// Output:
	// {"paused":null,"ratio":1.0,"replicas":3}
	// true true
}

func ExampleParseJSONLimited() {
	_, err := document.ParseJSONLimited([]byte(`{"a":{"b":{}}}`), document.Limits{MaxDepth: 2})
	fmt.Println(err)
	// Output:
	// line 1, column 11: .a.b: lists and maps are nested more than 2 deep
}

func ExampleParseYAML() {
	v, err := document.ParseYAML([]byte("on: push\nport: 0x1F90\nversion: 1.10\nbase: &b {a: 1}\nmore: {<<: *b, c: ~}\n"))
	if err != nil {
		panic(err)
	}
	fmt.Println(v)
	// Output:
	// {"base":{"a":1},"more":{"a":1,"c":null},"port":8080,"true":"push","version":1.10}
}

func ExampleParseYAMLLimited() {
	_, err := document.ParseYAMLLimited([]byte("a: &a [x, x, x, x]\nb: [*a, *a]\n"), document.Limits{MaxBytes: 40})
	fmt.Println(err)
	// Output:
	// line 2, column 9: .b[1]: aliases and merge keys expand the document beyond the limit; write it out or raise the limit
}

func ExampleParseYAMLStream() {
	text := "kind: Namespace\n---\n# nothing here\n---\nkind: Pod\n"
	for v, err := range document.ParseYAMLStream([]byte(text), document.Limits{}) {
		if err != nil {
			panic(err)
		}
		fmt.Println(v.Get("kind").Text())
	}
	// Output:
	// Namespace
	// Pod
}

func ExampleSyntaxError() {
	_, err := document.ParseYAML([]byte("spec:\n  containers:\n  - image: web\n    image: app\n"))
	var syntax *document.SyntaxError
	if errors.As(err, &syntax) {
		fmt.Println(syntax.Line, syntax.Column, syntax.Path)
		fmt.Println(syntax.Problem)
	}
	// Output:
	// 4 5 .spec.containers[0].image
	// the field occurs twice in one map, first on line 3, column 5; remove one of them
}

func ExampleValue_YAML() {
	v := document.NewMap(
		document.Field{Name: "script", Value: document.NewString("set -e\nmake\n")},
		document.Field{Name: "enabled", Value: document.NewString("yes")},
		document.Field{Name: "args", Value: document.NewList(document.NewString("-v"), document.NewInt(8080))},
	)
	fmt.Print(v.YAML())
	// Output:
	// args:
	// - -v
	// - 8080
	// enabled: "yes"
	// script: |
	//   set -e
	//   make
}

func ExampleValue_AppendJSON() {
	v := document.NewList(document.NewNull(), document.NewBool(true), document.NewString("<b>"))
	fmt.Printf("%s\n", v.AppendJSON([]byte("event: ")))
	// Output:
	// event: [null,true,"\u003cb\u003e"]
}

func ExampleValue_With() {
	old, _ := document.ParseJSON([]byte(`{"replicas":1,"paused":true}`))
	fmt.Println(old.With("replicas", document.NewInt(3)).Without("paused"))
	fmt.Println(old)
	// Output:
	// {"replicas":3}
	// {"paused":true,"replicas":1}
}

func ExampleValue_Fields() {
	v, _ := document.ParseJSON([]byte(`{"b":2,"a":[1,2]}`))
	for name, value := range v.Fields() {
		fmt.Println(name, value.Kind(), value)
	}
	// Output:
	// a list [1,2]
	// b number 2
}

func ExampleEqual() {
	one, _ := document.NewNumber("1.0")
	fmt.Println(document.Equal(one, document.NewInt(1)))
	fmt.Println(document.Equal(document.NewNull(), document.Value{}))
	// Output:
	// true
	// false
}

func ExampleCompare() {
	fmt.Println(document.Compare(document.NewInt(10), document.NewInt(9)))
	fmt.Println(document.Compare(document.NewInt(10), document.NewString("10")))
	// Output:
	// 1
	// -1
}

func ExampleFromGo() {
	v, err := document.FromGo(map[string]any{"b": []any{}, "a": 1.5})
	fmt.Println(v, err)
	fmt.Printf("%#v\n", v.Get("a").ToGo())
	// Output:
	// {"a":1.5,"b":[]} <nil>
	// 1.5
}

func ExampleNewNumber() {
	v, err := document.NewNumber("12345678901234567890.10")
	fmt.Println(v, err)
	_, err = document.NewNumber("0x10")
	fmt.Println(err)
	// Output:
	// 12345678901234567890.10 <nil>
	// expected a JSON number, received "0x10"
}
