package fieldsv1_test

import (
	"fmt"

	"github.com/cadastre/cadastre/internal/lib/fieldsv1"
)

func ExampleWriter() {
	var w fieldsv1.Writer
	w.Begin()
	spec := w.OpenName(fieldsv1.Name{Text: "spec"}, false)
	w.Leaf(fieldsv1.Name{Text: "image"})
	w.Close(spec)
	fmt.Println(string(w.End()))
	// Output: {"f:spec":{"f:image":{}}}
}
