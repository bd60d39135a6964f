package crdlint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// topology is the list type or map type of a schema object as text, and the path of the schema object.
type topology struct {
	text string
	at   path
}

// topologies maps the paths of the lists and maps of a version to their topologies.
type topologies map[path]topology

// add records the topology of a schema object, unless an enclosing list or map is atomic.
func (t topologies) add(n node) {
	if n.inAtomic || !isList(n.schema) && !isMap(n.schema) {
		return
	}
	t[n.field] = topology{describe(n.schema), n.at}
}

// describe returns the topology of a list or map as text, such as "a set".
func describe(schema document.Value) string {
	switch {
	case isMap(schema) && isAtomicMap(schema):
		return "an atomic map"
	case isMap(schema):
		return "a granular map"
	case isAtomicList(schema):
		return "an atomic list"
	case listType(schema) == "set":
		return "a set"
	}
	var keys []string
	for _, key := range schema.Get("x-kubernetes-list-map-keys").Items() {
		keys = append(keys, key.Text())
	}
	return "a list with the keys " + strings.Join(keys, ", ")
}

// compare returns a finding for each path whose topology differs from its topology in an earlier version.
func (v *visitor) compare(earlier topologies) []Finding {
	findings := v.findings
	v.findings = nil
	for _, field := range slices.Sorted(maps.Keys(v.topologies)) {
		now := v.topologies[field]
		if before, ok := earlier[field]; ok && before.text != now.text {
			v.report(node{at: now.at, field: field}, "versions-differ", Warning,
				fmt.Sprintf("the field is %s here and %s at %s: ownership of its parts is lost or widened when a manager changes versions", now.text, before.text, before.at),
				"declare the same topology in all served versions")
		}
	}
	found := v.findings
	v.findings = findings
	return found
}
