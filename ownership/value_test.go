package ownership

import (
	"testing"
)

func TestValueAt(t *testing.T) {
	doc := readYAML(t, `
ports:
- {name: none}
- {port: 80, name: lacks}
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
		`ports[port=81,protocol="TCP"].name`: `"alone"`, // the protocol has a default
		`ports[port=82,protocol="TCP"].name`: "",        // an item without any of the keys is not meant
		"ports[3].name":                      `"alone"`,
		"ports[4].name":                      "",
		`set[="a"]`:                          `"a"`,
		"set[=1]":                            "1",
		"set[=2]":                            "",
	} {
		if got := ValueAt(doc, paths(t, path)[0]); got.JSON() != want {
			t.Errorf("%s: received %s, want %s", path, got, want)
		}
	}
}
