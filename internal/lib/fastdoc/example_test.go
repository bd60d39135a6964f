package fastdoc_test

import (
	"fmt"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
)

func ExampleParseJSONExcept() {
	text := `{"metadata":{"managedFields":[{"fieldsV1":{"f:spec":{}},"manager":"ci"}]}}`
	v, err := fastdoc.ParseJSONExcept(text, document.Limits{}, fastdoc.FieldsV1Path...)
	if err != nil {
		panic(err)
	}
	entry := v.Lookup("metadata", "managedFields").At(0)
	fmt.Println(entry.Get("manager").Text(), fastdoc.IsUnparsed(entry.Get("fieldsV1")), entry.Get("fieldsV1").JSON())
	// Output:
	// ci true {"f:spec":{}}
}

// A configuration that is parsed with the live object as base shares the parts that are the same in both.
func ExampleParseJSONWithBase() {
	live, err := document.ParseJSON(`{"ports":[80,443],"replicas":1}`)
	if err != nil {
		panic(err)
	}
	config, err := fastdoc.ParseJSONWithBase(`{"ports":[80,443],"replicas":3}`, document.Limits{}, live)
	if err != nil {
		panic(err)
	}
	fmt.Println(config, document.Same(config.Get("ports"), live.Get("ports")))
	// Output:
	// {"ports":[80,443],"replicas":3} true
}

func ExampleBuilder() {
	var b fastdoc.Builder
	outer := b.Mark()
	inner := b.Mark()
	b.Push("", document.NewInt(80))
	b.Push("", document.NewInt(443))
	b.Push("ports", b.List(inner))
	fmt.Println(b.Map(outer))
	// Output:
	// {"ports":[80,443]}
}

// A Reader reuses its memory for the document of the next request.
func ExampleReader() {
	var reader fastdoc.Reader
	for _, request := range []string{`{"image":"app:1"}`, `{"image":"app:2"}`} {
		reader.Reset()
		v, err := reader.ParseJSON(request, document.Limits{}, document.Value{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(v.Get("image"))
	}
	// Output:
	// "app:1"
	// "app:2"
}
