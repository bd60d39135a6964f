package differential

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
)

//go:embed kinds
var folder embed.FS

// kind is a kind of object that histories use.
type kind struct {
	resource string
	scale    bool
	// cluster reports whether the kind is cluster-scoped.
	cluster bool
	// protected reports whether Kubernetes adds a protection finalizer to objects of the kind.
	protected bool
	// neverDeleted reports whether histories never delete objects of the kind, because a garbage collector would have
	// to complete the deletion.
	neverDeleted bool
	versions     []version
}

// version is the vocabulary of a kind at one API version: the parts from which bodies are composed.
type version struct {
	apiVersion, kind string
	// base is a minimal valid object, into which parts are merged.
	base   document.Value
	parts  []document.Value
	status []document.Value
}

// Files with parts that several kinds use.
const (
	commonFile   = "common.yaml"
	templateFile = "template.yaml"
)

// readKinds reads the vocabulary of all kinds, in the order of their file names.
func readKinds() ([]kind, error) {
	common, err := readFile(commonFile)
	if err != nil {
		return nil, err
	}
	template, err := readFile(templateFile)
	if err != nil {
		return nil, err
	}
	entries, err := folder.ReadDir("kinds")
	if err != nil {
		return nil, err
	}
	var kinds []kind
	for _, entry := range entries {
		if entry.Name() == commonFile || entry.Name() == templateFile {
			continue
		}
		text, err := readFile(entry.Name())
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, newKind(text, itemsOf(common), itemsOf(template)))
	}
	return kinds, nil
}

func readFile(name string) (document.Value, error) {
	text, err := folder.ReadFile(path.Join("kinds", name))
	if err != nil {
		return document.Value{}, err
	}
	value, err := document.ParseYAML(text)
	if err != nil {
		return document.Value{}, fmt.Errorf("%s: %w", name, err)
	}
	return value, nil
}

// newKind returns the kind that text describes, with its own parts, the common parts and, if it has a pod template, the
// parts in template.
func newKind(text document.Value, common, template []document.Value) kind {
	k := kind{
		resource: text.Get("resource").Text(), scale: text.Get("scale").Bool(), cluster: text.Get("cluster").Bool(),
		neverDeleted: text.Get("stays").Bool(), protected: text.Get("protected").Bool(),
	}
	shared := slices.Clone(common)
	if k.protected {
		shared = slices.DeleteFunc(shared, func(part document.Value) bool { return !part.Lookup("metadata", "finalizers").IsAbsent() })
	}
	if place := itemsOf(text.Get("template")); len(place) > 0 {
		for _, part := range template {
			for _, name := range slices.Backward(place) {
				part = field(name.Text(), part)
			}
			shared = append(shared, part)
		}
	}
	for _, v := range itemsOf(text.Get("versions")) {
		for _, name := range append(itemsOf(v.Get("also")), v.Get("apiVersion")) {
			k.versions = append(k.versions, version{
				apiVersion: name.Text(), kind: v.Get("kind").Text(), base: v.Get("base"),
				parts: append(itemsOf(v.Get("parts")), shared...), status: itemsOf(v.Get("status")),
			})
		}
	}
	return k
}

// isCustom reports whether the kind is a custom resource, which has no protobuf encoding.
func (k kind) isCustom() bool { return strings.HasPrefix(k.versions[0].apiVersion, customGroup+"/") }

// name returns the name of the object: objectName or, for a cluster-scoped kind, a name that contains the namespace.
func (k kind) name() string {
	if k.cluster {
		return "$NAMESPACE-" + objectName
	}
	return objectName
}

// address returns the address of an object in the format of scripts, or that of the collection if name is empty.
func (k kind) address(v version, name string) string {
	place := strings.TrimSuffix(k.resource+"/"+name, "/")
	switch {
	case k.cluster && strings.Contains(v.apiVersion, "/"):
		return "/apis/" + v.apiVersion + "/" + place
	case k.cluster:
		return "/api/" + v.apiVersion + "/" + place
	case v.apiVersion == "v1":
		return place
	}
	return v.apiVersion + " " + place
}

func itemsOf(list document.Value) []document.Value {
	var items []document.Value
	for _, item := range list.Items() {
		items = append(items, item)
	}
	return items
}

func field(name string, value document.Value) document.Value {
	return document.NewMap(document.Field{Name: name, Value: value})
}
