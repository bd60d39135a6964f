package ownership

import (
	"testing"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/schema"
)

func TestValueAt(t *testing.T) {
	doc := readYAML(t, `
ports:
- {name: none}
- {port: 80, name: partial}
- {port: 80, protocol: TCP, name: all}
- {port: 81, name: alone}
set: [a, 1, a]
map: {x: {z: 1}}
`).Document
	for path, want := range map[string]string{
		"map.x.z":                            "1",
		"map.y2.z":                           "",
		"map[0]":                             "",
		`ports[port=80,protocol="TCP"].name`: `"all"`,
		`ports[port=81,protocol="TCP"].name`: `"alone"`, // the missing key protocol may be defaulted
		`ports[port=82,protocol="TCP"].name`: "",        // an item without any of the keys does not match
		"ports[3].name":                      `"alone"`,
		"ports[4].name":                      "",
		`set[="a"]`:                          `"a"`,
		"set[=1]":                            "1",
		"set[=2]":                            "",
	} {
		if got := ValueAt(doc, mustPaths(t, path)[0]); got.JSON() != want {
			t.Errorf("ValueAt(%s) = %s, want %s", path, got, want)
		}
	}
}

// TestOwnedValues checks that the value of a granular map, list or item does not include its fields and items, which may
// have other owners.
func TestOwnedValues(t *testing.T) {
	o := readYAML(t, `
apiVersion: v1
ports: [{port: 80, name: web}]
dups: [{name: x, a: 1}, {name: b}, {name: x}]
set: [a]
map: {x: {z: 1}, empty: {}}
whole: {x: 1}
`)
	o.Entries = []apply.Entry{
		newEntry(t, "a/Apply", "map", "ports", "ports[port=80]", `dups[name="x"]`, `dups[name="b"]`, `dups[name="b"].name`, "set", "whole", "gone"),
		newEntry(t, "b/Update", "map.x.z", "ports[port=80].name", `set[="a"]`),
	}
	owned, err := NewOwnedValues(o, nil)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"map":            "{}",
		"map.x.z":        "1",
		"map.empty":      "{}",
		"ports":          "[]",
		"ports[port=80]": `{"port":80}`,
		`dups[name="x"]`: `[{"a":1,"name":"x"},{"name":"x"}]`,
		`dups[name="b"]`: `{"name":"b"}`,
		"set":            "[]",
		`set[="a"]`:      `"a"`,
		"whole":          `{"x":1}`, // without a schema, a map in which no entry owns a field is atomic
		"gone":           "",
	} {
		if got := owned.At(mustPaths(t, path)[0]); got.JSON() != want {
			t.Errorf("At(%s) = %s, want %s", path, got, want)
		}
	}
	granular := &schema.Type{Map: &schema.Map{Element: schema.Untyped}}
	root := &schema.Type{Map: &schema.Map{Fields: []schema.Field{{Name: "whole", Type: granular}}}}
	if owned, err = NewOwnedValues(o, root); err != nil || owned.At(mustPaths(t, "whole")[0]).JSON() != "{}" {
		t.Errorf("At(whole) with a schema in which the map is granular = %s, %v; want {}", owned.At(mustPaths(t, "whole")[0]), err)
	}
}
