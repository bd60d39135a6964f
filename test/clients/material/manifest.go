package material

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// maxSamplesPerKind is the maximum number of objects of a kind that are read from a module, because some modules
// contain thousands.
const maxSamplesPerKind = 6

// Manifest contains the CustomResourceDefinitions to install, and the samples to apply.
type Manifest struct {
	Definitions []Definition
	Samples     []Sample
}

// Definition is a CustomResourceDefinition of a project.
type Definition struct {
	Object *unstructured.Unstructured
	Typed  *apiextensionsv1.CustomResourceDefinition
}

// Sample is an object to apply. Its name is the file from which it was read, or describes how it was generated.
type Sample struct {
	Name   string
	Object *unstructured.Unstructured
}

// Read returns the CustomResourceDefinitions and samples of a project.
func (p Project) Read(files fs.FS) (*Manifest, error) {
	names, err := yamlFiles(files)
	if err != nil {
		return nil, err
	}
	m := &Manifest{}
	for _, name := range names {
		if !p.defines(name) {
			continue
		}
		if err := m.readDefinitions(files, name); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if len(m.Definitions) == 0 {
		return nil, fmt.Errorf("%s@%s: found no definitions in %v", p.Module, p.Version, p.Definitions)
	}
	for _, name := range names {
		if err := m.readSamples(files, name); err != nil {
			return nil, err
		}
	}
	m.Samples = slices.DeleteFunc(m.Samples, func(s Sample) bool { return p.Without[s.Name] != "" })
	for i, text := range p.Samples {
		object, err := parse([]byte(text))
		if err != nil {
			return nil, fmt.Errorf("sample %d of %s: %w", i+1, p.Name, err)
		}
		m.Samples = append(m.Samples, Sample{fmt.Sprintf("by hand#%d", i+1), object})
	}
	m.generate()
	return m, nil
}

func (m *Manifest) readDefinitions(files fs.FS, name string) error {
	content, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	for i, document := range documents(content) {
		object, err := parse(document)
		if err != nil {
			return fmt.Errorf("document %d: %w", i+1, err)
		}
		if object == nil || object.GetKind() != "CustomResourceDefinition" {
			continue
		}
		typed := &apiextensionsv1.CustomResourceDefinition{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, typed); err != nil {
			return fmt.Errorf("document %d: %w", i+1, err)
		}
		unstructured.RemoveNestedField(object.Object, "status")
		m.Definitions = append(m.Definitions, Definition{object, typed})
	}
	return nil
}

// readSamples adds the objects in the file name whose kinds the project defines. Files that are not valid YAML, such as
// templates, are skipped.
func (m *Manifest) readSamples(files fs.FS, name string) error {
	content, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	for i, document := range documents(content) {
		if !m.mentions(document) {
			continue
		}
		object, err := parse(document)
		if err != nil || object == nil || m.definition(object) == nil || m.count(object) == maxSamplesPerKind {
			continue
		}
		m.Samples = append(m.Samples, Sample{fmt.Sprintf("%s#%d", name, i+1), object})
	}
	return nil
}

// mentions reports whether document contains the API group of a definition, so that it may be a sample. It is a fast
// check before parsing, because most files are unrelated to the definitions.
func (m *Manifest) mentions(document []byte) bool {
	return slices.ContainsFunc(m.Definitions, func(d Definition) bool {
		return bytes.Contains(document, []byte("apiVersion: "+d.Typed.Spec.Group+"/"))
	})
}

// definition returns the CustomResourceDefinition that serves the kind of object at its version, or nil if there is
// none.
func (m *Manifest) definition(object *unstructured.Unstructured) *Definition {
	i := slices.IndexFunc(m.Definitions, func(d Definition) bool { return d.serves(object.GroupVersionKind()) })
	if i < 0 {
		return nil
	}
	return &m.Definitions[i]
}

func (d Definition) serves(gvk schema.GroupVersionKind) bool {
	return d.Typed.Spec.Group == gvk.Group && d.Typed.Spec.Names.Kind == gvk.Kind && slices.Contains(d.servedVersions(), gvk.Version)
}

func (d Definition) servedVersions() (names []string) {
	for _, v := range d.Typed.Spec.Versions {
		if v.Served {
			names = append(names, v.Name)
		}
	}
	return names
}

// count returns the number of samples of the kind of object, at any version.
func (m *Manifest) count(object *unstructured.Unstructured) (n int) {
	for _, s := range m.Samples {
		if s.Object.GroupVersionKind().GroupKind() == object.GroupVersionKind().GroupKind() {
			n++
		}
	}
	return n
}

// documents returns the documents of content, a YAML file.
func documents(content []byte) (found [][]byte) {
	reader := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			return found // a document with such a long line is not a sample
		}
		found = append(found, document)
	}
}

// parse returns the object in document, or nil if document is not an object.
func parse(document []byte) (*unstructured.Unstructured, error) {
	var content map[string]any
	if err := yaml.Unmarshal(document, &content); err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{Object: content}
	if _, hasMetadata := content["metadata"].(map[string]any); !hasMetadata || object.GetAPIVersion() == "" || object.GetKind() == "" {
		return nil, nil
	}
	return object, nil
}
