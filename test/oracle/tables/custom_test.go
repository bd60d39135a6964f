package tables

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource/tableconvertor"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// customPaths lists JSONPaths of printer columns. Each of them is evaluated with every column type.
var customPaths = []string{
	".metadata.name", ".metadata.creationTimestamp", ".spec.count", ".spec.half", ".spec.on", ".spec.text", ".spec.map", ".spec.list",
	".spec.null", ".spec.missing", ".spec.missing.deeper", ".spec.text.deeper", ".spec.list[0]", ".spec.list[*]", ".spec.list[9]",
	`.status.conditions[?(@.type=="Ready")].status`, `.metadata.annotations.example\.org/note`, ".spec['text']", ".spec.time", ".spec.empty",
	".spec.dashed-name", "..name", ".spec.huge",
}

const customObject = `{"apiVersion":"example.org/v1","kind":"Thing","metadata":{"annotations":{"example.org/note":"here"},"creationTimestamp":"1999-12-31T22:00:00Z","managedFields":[{"manager":"m","fieldsV1":{"f:spec":{}}}],"name":"t"},` +
	`"spec":{"count":3,"dashed-name":"yes","empty":"","half":1.5,"huge":1e30,"list":["a","b"],"map":{"k":[1]},"null":null,"on":true,"text":"<t>","time":"1999-12-31T23:59:00Z"},` +
	`"status":{"conditions":[{"status":"False","type":"Other"},{"status":"True","type":"Ready"}]}}`

// TestWriteCustom records the cells that Kubernetes prints for custom resources.
func TestWriteCustom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON([]byte(customObject)); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		fmt.Fprintf(&out, "%s\n", customObject)
		for _, path := range customPaths {
			for typ := range strings.FieldsSeq("string integer number boolean date") {
				column := apiextensionsv1.CustomResourceColumnDefinition{Name: "C", Type: typ, JSONPath: path}
				convertor, err := tableconvertor.New([]apiextensionsv1.CustomResourceColumnDefinition{column})
				if err != nil {
					t.Fatal(err)
				}
				table, err := convertor.ConvertToTable(context.Background(), object, &metav1.TableOptions{})
				if err != nil {
					t.Fatal(err)
				}
				cell, err := json.Marshal(table.Rows[0].Cells[1])
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&out, "%s %s %s\n", typ, path, cell)
			}
		}
		write(t, "custom.txt", append([]byte(header), out.Bytes()...))
	})
}
