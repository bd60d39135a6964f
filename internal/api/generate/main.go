// Command generate makes topologies.json.gz of the schema that client-go's apply configurations
// carry: the types that the built-in kinds need, as JSON. Run it by go generate when the
// version of client-go has changed.
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/kinds"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("expected the name of the file to write")
	}
	text, err := clientGoSchema()
	if err != nil {
		log.Fatal(err)
	}
	packed, err := pack(text)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(os.Args[1], packed, 0o644); err != nil {
		log.Fatal(err)
	}
}

// clientGoSchema returns the text of the schema. It is in an internal package, so it is read from
// the source.
func clientGoSchema() (string, error) {
	folder, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/client-go").Output()
	if err != nil {
		return "", fmt.Errorf("find the source of client-go: %w", err)
	}
	name := filepath.Join(strings.TrimSpace(string(folder)), "applyconfigurations/internal/internal.go")
	source, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		return "", err
	}
	longest := "" // the schema is by far the longest string
	ast.Inspect(source, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING && len(literal.Value) > len(longest) {
			longest = literal.Value
		}
		return true
	})
	text, err := strconv.Unquote(longest)
	if err != nil || !strings.HasPrefix(strings.TrimSpace(text), "types:") {
		return "", fmt.Errorf("%s: expected a schema as its longest string, received %.40q (%v)", name, longest, err)
	}
	return text, nil
}

// scaleSchema has the types of scales. There are no apply configurations for them, so that the
// schema of client-go lacks them.
const scaleSchema = `types:
- name: io.k8s.api.autoscaling.v1.Scale
  map:
    fields:
    - {name: apiVersion, type: {scalar: string}}
    - {name: kind, type: {scalar: string}}
    - {name: metadata, type: {namedType: io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta}, default: {}}
    - {name: spec, type: {namedType: io.k8s.api.autoscaling.v1.ScaleSpec}, default: {}}
    - {name: status, type: {namedType: io.k8s.api.autoscaling.v1.ScaleStatus}, default: {}}
- name: io.k8s.api.autoscaling.v1.ScaleSpec
  map:
    fields:
    - {name: replicas, type: {scalar: numeric}}
- name: io.k8s.api.autoscaling.v1.ScaleStatus
  map:
    fields:
    - {name: replicas, type: {scalar: numeric}, default: 0}
    - {name: selector, type: {scalar: string}}
`

// pack returns the types that the built-in kinds need.
func pack(schema string) ([]byte, error) {
	types := map[string]document.Value{}
	definition, err := definitionSchema()
	if err != nil {
		return nil, err
	}
	for _, text := range []string{definition, scaleSchema, schema} {
		doc, err := document.ParseYAMLLimited([]byte(text), document.Limits{MaxBytes: -1})
		if err != nil {
			return nil, err
		}
		for _, t := range doc.Get("types").Items() {
			types[t.Get("name").Text()] = t
		}
	}
	needed := map[string]bool{}
	for _, k := range kinds.Builtin() {
		for _, version := range k.Versions {
			need(needed, types, kinds.TypeName(k.Group, version, k.Name))
		}
	}
	need(needed, types, kinds.TypeName("autoscaling", "v1", "Scale"))
	need(needed, types, kinds.DefinitionType)
	var list []document.Value
	for name, t := range types {
		if needed[name] {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b document.Value) int { return strings.Compare(a.Get("name").Text(), b.Get("name").Text()) })
	return compress(document.NewMap(document.Field{Name: "types", Value: document.NewList(list...)}).JSON())
}

// need notes a type and all that it refers to.
func need(needed map[string]bool, types map[string]document.Value, name string) {
	t, known := types[name]
	if !known || needed[name] {
		return
	}
	needed[name] = true
	references(t, func(name string) { need(needed, types, name) })
}

// references calls visit with the names of the types that are referred to in a value.
func references(v document.Value, visit func(name string)) {
	switch v.Kind() {
	case document.Map:
		for name, value := range v.Fields() {
			if name == "namedType" {
				visit(value.Text())
			}
			references(value, visit)
		}
	case document.List:
		for _, value := range v.Items() {
			references(value, visit)
		}
	}
}

func compress(text string) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = w.Write([]byte(text))
	err = errors.Join(err, w.Close())
	return b.Bytes(), err
}
