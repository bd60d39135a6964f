package kinds

import (
	"strings"
	"testing"
	"testing/fstest"
)

func read(t *testing.T, files map[string]string) (*Set, error) {
	t.Helper()
	dir := fstest.MapFS{}
	for name, text := range files {
		dir[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return Read(dir)
}

func TestRead(t *testing.T) {
	set, err := read(t, map[string]string{
		"core/pod.kind":   "# A comment.\nkind Pod\n    group: core\n    versions: v1 v2\n\n    defaults v2:\n        a = 1\n\n        # Another one.\n            b = 2\n\ntype Local\n    validation:\n        x\n",
		"apps/thing.kind": "kind Thing\n    group: apps.example.com\n    versions: v1\n",
	})
	if err == nil || !strings.Contains(err.Error(), "apps/thing.kind:1: expected kind Thing of group apps.example.com in file apps.example.com/thing.kind") {
		t.Errorf("Read(): error = %v, want one about the name of apps/thing.kind", err)
	}
	pod := set.Kinds[0]
	if pod.Name != "Pod" || pod.Group() != "" || pod.Property("versions").Line != 4 || set.Kinds[1].Structs(nil)[0] != "apps.v1.Thing" {
		t.Errorf("first kind = %+v, want Pod of the core group with its versions in line 4, and Thing as the second kind", pod)
	}
	section := pod.Sections(Defaults)[0]
	lines, err := section.Lines()
	if err != nil || len(lines) != 2 || lines[0] != (Line{7, 0, "a = 1"}) || lines[1] != (Line{10, 1, "b = 2"}) {
		t.Errorf("Lines() of the section defaults = %v, %v, want a = 1 in line 7 and b = 2 in line 10", lines, err)
	}
	if got := pod.Structs(section); len(got) != 1 || got[0] != "core.v2.Pod" {
		t.Errorf("Structs() of the section defaults v2 = %q, want core.v2.Pod", got)
	}
	if len(set.Types) != 1 || set.Types[0].Name != "Local" || len(set.Types[0].Structs(nil)) != 0 || len(set.All()) != 3 {
		t.Errorf("types = %+v, want only Local, without structs", set.Types)
	}
}

func TestReadErrors(t *testing.T) {
	const head = "kind Pod\n    group: core\n    versions: v1 v2\n"
	for text, want := range map[string]string{
		"":                                                      "core/pod.kind:1: expected a kind as the first declaration",
		"    group: core\n":                                     `core/pod.kind:1: expected kind NAME or type NAME before "group: core"`,
		"king Pod\n":                                            `core/pod.kind:1: expected kind NAME or type NAME, received "king Pod"`,
		head + "kind Node\n":                                    "core/pod.kind:4: expected one kind in a file",
		head + "  scope: cluster\n":                             "core/pod.kind:4: expected a declaration, or a property or section indented by 4 spaces, received an indent of 2",
		head + "\tscope: cluster\n":                             "core/pod.kind:4: expected an indent by spaces, received a tab",
		head + "    scope\n":                                    `core/pod.kind:4: expected NAME: VALUE or SECTION:, received "scope"`,
		head + "    scope:\n":                                   "core/pod.kind:4: expected a value after the name of a property",
		head + "    defaults: a\n":                              "core/pod.kind:4: expected a value after the name of a property",
		head + "    scoop: cluster\n":                           `received "scoop"`,
		head + "    group: core\n":                              "core/pod.kind:4: expected names in the order",
		head + "    versions: v3\n":                             "core/pod.kind:4: expected versions once",
		head + "    columns:\n    defaults:\n":                  "core/pod.kind:5: expected names in the order",
		head + "    defaults:\n    defaults v1:\n":              "core/pod.kind:5: expected defaults once, or once for each version",
		head + "    defaults v1:\n    defaults v1:\n":           "core/pod.kind:5: expected defaults once, or once for each version",
		head + "    defaults v3:\n":                             `received "defaults v3"`,
		head + "type A\n    traits: x\n":                        `received "traits"`,
		head + "type A\ntype A\n":                               "core/pod.kind:5: expected a new name, received A, which core/pod.kind:4 declares",
		strings.Replace(head, "core", "apps", 1):                "expected kind Pod of group apps in file apps/pod.kind; rename the file",
		head + "    defaults v1:\n    defaults v2:\n    x: y\n": `received "x"`,
	} {
		if _, err := read(t, map[string]string{"core/pod.kind": text}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Read() of %q: error = %v, want %s", text, err, want)
		}
	}
}

func TestAddAfterRead(t *testing.T) {
	Builtin()
	defer func() {
		if recover() == nil {
			t.Error("Add() after Builtin(): got no panic, want one")
		}
	}()
	Add(fstest.MapFS{})
}

// BenchmarkRead measures the time to parse the outlines of all kind files, which is part of the server's startup.
func BenchmarkRead(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(builtinFiles); err != nil {
			b.Fatal(err)
		}
	}
}
