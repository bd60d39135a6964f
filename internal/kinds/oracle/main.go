// Command oracle converts objects as Kubernetes does. It reads lines APIVERSION OBJECT, and writes each
// with the object as Kubernetes reads it, followed by a line = RESULT. It is a module of its own, because
// it needs Kubernetes. To make testdata/conversions.txt anew, or with more objects:
//
//	go run . < ../testdata/conversions.txt > conversions.txt
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/events/install"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		switch to, object, _ := strings.Cut(lines.Text(), " "); to {
		case "#":
			fmt.Println(lines.Text())
		case "=": // what was made before
		default:
			read, converted, err := convert(object, to)
			if err != nil {
				log.Fatalf("%s: %v", lines.Text(), err)
			}
			fmt.Printf("%s %s\n= %s\n", to, read, converted)
		}
	}
	if err := lines.Err(); err != nil {
		log.Fatal(err)
	}
}

// convert returns an object as Kubernetes reads it, and at another version.
func convert(text, to string) (read, converted []byte, err error) {
	var kind struct{ APIVersion, Kind string }
	if err := json.Unmarshal([]byte(text), &kind); err != nil {
		return nil, nil, err
	}
	object, err := legacyscheme.Scheme.New(schema.FromAPIVersionAndKind(kind.APIVersion, kind.Kind))
	if err != nil {
		return nil, nil, err
	}
	if err := json.Unmarshal([]byte(text), object); err != nil {
		return nil, nil, err
	}
	if read, err = json.Marshal(object); err != nil {
		return nil, nil, err
	}
	hub, err := legacyscheme.Scheme.ConvertToVersion(object, runtime.InternalGroupVersioner)
	if err != nil {
		return nil, nil, err
	}
	there := schema.FromAPIVersionAndKind(to, kind.Kind)
	result, err := legacyscheme.Scheme.ConvertToVersion(hub, there.GroupVersion())
	if err != nil {
		return nil, nil, err
	}
	result.GetObjectKind().SetGroupVersionKind(there)
	converted, err = json.Marshal(result)
	return read, converted, err
}
