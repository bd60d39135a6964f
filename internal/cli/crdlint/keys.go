package crdlint

import (
	"slices"

	"github.com/cadastre/cadastre/document"
)

// keyNames are the names of properties that usually identify an item, from the most to the least likely.
var keyNames = []string{"name", "id", "uid", "key", "type", "topologyKey", "containerPort", "port", "host", "path", "mountPath", "devicePath", "ip"}

// suggestKeys returns the properties of an item that can be its list map keys: a required property in keyNames; if
// there is none, the property "name"; if there is none, the only required scalar. For a port, it adds the property
// protocol if that is required or has a default. It returns nil if no property identifies an item.
func suggestKeys(items document.Value) []string {
	properties := items.Get("properties")
	usable := func(name string) bool {
		property := properties.Get(name)
		t := property.Get("type").Text()
		return (t == "string" || t == "integer") && !property.Get("nullable").Bool()
	}
	i := slices.IndexFunc(keyNames, func(name string) bool { return usable(name) && isRequired(items, name) })
	switch {
	case i >= 0:
		keys := []string{keyNames[i]}
		if name := keyNames[i]; (name == "port" || name == "containerPort") && usable("protocol") &&
			(isRequired(items, "protocol") || !properties.Get("protocol").Get("default").IsAbsent()) {
			keys = append(keys, "protocol")
		}
		return keys
	case usable("name"):
		return []string{"name"}
	}
	var scalars []string
	for _, required := range items.Get("required").Items() {
		if usable(required.Text()) {
			scalars = append(scalars, required.Text())
		}
	}
	if len(scalars) == 1 {
		return scalars
	}
	return nil
}
