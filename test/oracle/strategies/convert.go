package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

// printConverted prints the object of a line APIVERSION OBJECT and its conversion to that version.
func printConverted(line string) error {
	to, object, _ := strings.Cut(line, " ")
	read, converted, err := convert(object, to)
	if err == nil {
		fmt.Printf("%s %s\n= %s\n", to, read, converted)
	}
	return err
}

// convert decodes the object in text and returns its JSON as Kubernetes encodes it: at its own API version, and at the
// API version to.
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
