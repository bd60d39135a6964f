// Command generate writes types.txt.gz, a table of the Go types into which kube-apiserver decodes requests, and declarative.txt,
// their validation tags. Run it through go generate after changing the version of k8s.io/api.
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"log"
	"os"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/cadastre/cadastre/internal/api"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("expected two arguments: the files for the table of types and for the validation tags")
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func write(types, tags string) error {
	c, err := collect()
	if err != nil {
		return err
	}
	packed, err := compress(c.text())
	if err != nil {
		return err
	}
	declarations, err := c.declarations()
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(types, packed, 0o644), os.WriteFile(tags, declarations, 0o644))
}

// bodyKinds are the kinds of request bodies that are not resources themselves, such as Scale.
var bodyKinds = []schema.GroupVersionKind{
	{Group: "autoscaling", Version: "v1", Kind: "Scale"},
	{Group: "authentication.k8s.io", Version: "v1", Kind: "TokenRequest"},
	{Group: "policy", Version: "v1", Kind: "Eviction"},
	{Version: "v1", Kind: "DeleteOptions"},
}

// collect returns the types of all bodies and kinds that the server accepts.
func collect() (*collector, error) {
	c := &collector{}
	for _, kind := range served() {
		object, err := scheme.Scheme.New(kind)
		if err != nil {
			return nil, fmt.Errorf("creating the Go type of %v: %w", kind, err)
		}
		if err := c.addObject(kind, object); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func served() []schema.GroupVersionKind {
	all := bodyKinds
	for _, k := range api.Builtin() {
		for _, version := range k.Versions {
			all = append(all, schema.GroupVersionKind{Group: k.Group, Version: version, Kind: k.Name})
		}
	}
	return all
}

func (c *collector) addObject(kind schema.GroupVersionKind, object runtime.Object) error {
	t := reflect.TypeOf(object).Elem()
	_, err := c.add(t)
	if err != nil {
		return err
	}
	name := c.types[t].name
	if kind.Kind != "DeleteOptions" && name != api.TypeName(kind.Group, kind.Version, kind.Kind) {
		return fmt.Errorf("%v: expected the type name of internal/api, received %s", kind, name)
	}
	return nil
}

func compress(text []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(text)
	err = errors.Join(err, w.Close())
	return b.Bytes(), err
}
