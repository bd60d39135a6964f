package apply

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cadastre/cadastre/document"
)

// TestVersionChangeLosesNoFields: managers that applied at a lossy version continue at the full version. After random
// applies, every manager's fields are in the object, and no field remains after all managers have released
// everything.
func TestVersionChangeLosesNoFields(t *testing.T) {
	managers := []string{"alice", "bob", "carol"}
	for seed := range uint64(1000) {
		random := rand.New(rand.NewPCG(seed, 0))
		m := versionChange{T: t, seed: seed, version: "v1", applied: map[string]document.Value{}}
		m.engine = mustEngine(Options{Versions: lossyVersions{}, plain: seed%2 == 0})
		m.live.Document = parse(`{apiVersion: v1}`)
		for range random.IntN(3) {
			m.apply(managers[random.IntN(2)], randomV1Config(random))
		}
		m.changeVersion()
		for range 1 + random.IntN(5) {
			m.apply(managers[random.IntN(3)], randomV2Config(random))
		}
		for _, manager := range managers {
			m.apply(manager, document.NewMap())
		}
		if rest := m.live.Document.Without("apiVersion"); rest.Len() > 0 {
			t.Fatalf("seed %d: all fields were released, but %s remains", seed, rest)
		}
	}
}

// versionChange is an object whose managers change from version v1 to v2.
type versionChange struct {
	*testing.T
	engine  *Engine
	seed    uint64
	version string
	live    Object
	applied map[string]document.Value // maps a manager to its last configuration, converted to the current version
}

// apply applies a configuration and checks that the fields of all managers are in the result.
func (c *versionChange) apply(manager string, config document.Value) {
	c.Helper()
	result, err := c.engine.Apply(c.live, config, Request{Manager: manager, Version: c.version})
	if err != nil {
		c.Fatalf("seed %d: %v", c.seed, err)
	}
	c.applied[manager] = config
	for owner, config := range c.applied {
		if lost := pathsOf(testKind, config).Difference(pathsOf(testKind, result.Object.Document)); !lost.IsEmpty() {
			c.Fatalf("seed %d: %s applies %s to %s, the result is %s: %s lost\n%s",
				c.seed, manager, c.applied[manager], c.live.Document, result.Object.Document, owner, lost)
		}
	}
	c.live = result.Object
}

// changeVersion converts the object and the configurations to v2.
func (c *versionChange) changeVersion() {
	c.version, c.live.Document = "v2", lossyVersions{}.toV2(c.live.Document).With("apiVersion", document.NewString("v2"))
	for manager, config := range c.applied {
		c.applied[manager] = lossyVersions{}.toV2(config)
	}
}

// randomV1Config returns a random configuration at v1. Each field has the same value in all configurations, so there
// are no conflicts.
func randomV1Config(random *rand.Rand) document.Value {
	return randomFields(random, `number: 1`, `flag: true`, `map: {k: 1}`, `map: {k: 1, l: 1}`, `struct: {a: 1}`, `struct: {a: 1, inner: {a: 1}}`,
		`items: [{name: a, value: 1}]`)
}

// randomV2Config returns a random configuration at v2 without conflicts.
func randomV2Config(random *rand.Rand) document.Value {
	return randomFields(random, `list: [number 1]`, `flag: true`, `text: x`, `map: {l: 1}`, `map: {k: 1, l: 1}`, `struct: {a: 1}`, `struct: {b: 2}`,
		`struct: {b: 2, inner: {a: 1, b: 2}}`, `items: [{name: a}, {name: b, value: 1}]`, `items: [{name: a, value: 1, tags: [t]}]`, `items: [{name: c}]`)
}

// randomFields returns a document with a random selection of fields, which are given as YAML. If several selected
// fields have the same name, the last of them is used.
func randomFields(random *rand.Rand, fields ...string) document.Value {
	config := document.NewMap()
	for _, field := range fields {
		if random.IntN(3) > 0 {
			continue
		}
		for name, value := range parse(fmt.Sprintf("{%s}", field)).Fields() {
			config = config.With(name, value)
		}
	}
	return config
}
