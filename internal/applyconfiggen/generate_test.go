package applyconfiggen

import (
	"bytes"
	"context"
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

const (
	goldenPackage = "example.com/golden"
	goldenDir     = "testdata/golden"
)

// commands are the arguments of the runs whose output is compared with golden files, by name; test/applyconfig compiles the golden files.
var commands = map[string][]string{
	"go":      {"go", "./testdata/api/v1", "--trim", "github.com/cadastre/cadastre/internal/applyconfiggen/testdata/api"},
	"crd":     {"crd", "-f", "testdata/shops.yaml"},
	"openapi": {"openapi", "-f", "testdata/openapi.json"},
	"v2":      {"openapi", "-f", "testdata/swagger.json", "--group", "example.com"},
}

// TestGolden compares the output for each source with golden files, and the output of a second run with the output of the first run.
func TestGolden(t *testing.T) {
	for name, args := range commands {
		t.Run(name, func(t *testing.T) {
			golden := filepath.Join(goldenDir, name)
			if *update {
				generate(t, golden, name, args)
			}
			dir := t.TempDir()
			generate(t, dir, name, args)
			got, want := filesIn(t, dir), filesIn(t, golden)
			if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, slices.Sorted(maps.Keys(want))) {
				t.Fatalf("files = %v, want %v", names, slices.Sorted(maps.Keys(want)))
			}
			for file, content := range got {
				if content != want[file] {
					t.Errorf("%s differs from the golden file; go test ./internal/applyconfiggen -update writes it", file)
				}
			}
		})
	}
}

func generate(t *testing.T, dir, name string, args []string) {
	t.Helper()
	var stderr bytes.Buffer
	args = append(slices.Clone(args), "--output-dir", dir, "--output-package", goldenPackage+"/"+name)
	if code := Main(context.Background(), args, &stderr, &stderr); code != 0 {
		t.Fatalf("%v: exit code %d, %s", args, code, &stderr)
	}
}

func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(dir, name))
		files[name] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestErrors checks the errors for input that Go source cannot represent, and for files outside of the output folder.
func TestErrors(t *testing.T) {
	const start = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: x}, spec: `
	schema := func(group, properties string) string {
		return start + `{group: ` + group + `, names: {kind: Shop}, versions: [{name: v1, served: true, schema: {openAPIV3Schema: {type: object, properties: {` + properties + `}}}}]}}`
	}
	deep := strings.Repeat("{type: object, properties: {abcdefghijklmnopqrstuvwxyz: ", 50) + "{type: string}" + strings.Repeat("}}", 50)
	for _, test := range []struct{ name, content, want string }{
		{"group that is a path", schema(`"../../etc"`, ""), "expected a CustomResourceDefinition of apiextensions.k8s.io/v1 with group and kind"},
		{"group with a slash", schema(`a/b`, ""), "with group and kind"},
		{"kind that is no identifier", start + `{group: a, names: {kind: "X struct{}; func init() {}"}, versions: []}}`, "with group and kind"},
		{"quote in a name", schema("a", `"b\" x:\"": {type: string}`), `expected a property name that a Go struct tag can contain, received "b\" x:\""`},
		{"backtick in a name", schema("a", "\"b`\": {type: string}"), "expected a property name that a Go struct tag can contain"},
		{"dash as name", schema("a", `"-": {type: string}`), "expected a property name that a Go struct tag can contain"},
		{"newline in a name", schema("a", `"b\nc": {type: string}`), "expected a property name that a Go struct tag can contain"},
		{"deep", schema("a", "x: "+deep), "expected schemas whose path has at most 1000 characters"},
		{"hostile default of a key", schema("a", "x: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, properties: {k: {type: string, default: \"`\"}}}}"),
			"expected a list key and a default that a Go struct tag can contain"},
		{"no kinds", `{kind: ConfigMap}`, "expected a source with kinds, received a source without kinds"},
		{"two groups in a folder", schema("shop.a", "") + "\n---\n" + schema("shop.b", ""), "expected one group per folder"},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "crd.yaml")
			if err := os.WriteFile(file, []byte(test.content), 0o600); err != nil {
				t.Fatal(err)
			}
			var stderr bytes.Buffer
			code := Main(t.Context(), []string{"crd", "-f", file, "--output-dir", t.TempDir(), "--output-package", "example.com/x"}, &stderr, &stderr)
			if code != 1 || !strings.Contains(stderr.String(), test.want) {
				t.Errorf("exit code %d, %s, want 1 and an error that contains %q", code, &stderr, test.want)
			}
		})
	}
}

// TestRecursiveReferences checks that lists, maps and $refs that contain themselves get the Go type any.
func TestRecursiveReferences(t *testing.T) {
	for name, definition := range map[string]string{
		"itself": `{"$ref": "#/definitions/A"}`,
		"list":   `{"type": "array", "items": {"$ref": "#/definitions/A"}}`,
		"map":    `{"type": "object", "additionalProperties": {"$ref": "#/definitions/A"}}`,
	} {
		file := filepath.Join(t.TempDir(), "swagger.json")
		if err := os.WriteFile(file, []byte(`{"definitions": {"K": {"type": "object", "x-kubernetes-group-version-kind": [{"group": "g", "version": "v1", "kind": "K"}],
			"properties": {"metadata": {"type": "object"}, "a": {"$ref": "#/definitions/A"}}}, "A": `+definition+`}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		generate(t, dir, "x", []string{"openapi", "-f", file})
		if files := filesIn(t, dir); !strings.Contains(files["g/v1/zz_generated.applyconfig.go"], "any ") {
			t.Errorf("%s: generated %v, want a field of type any", name, slices.Sorted(maps.Keys(files)))
		}
	}
}

// TestNameConflicts checks that a field is renamed if its name or one of its methods would conflict with a generated method or with
// the embedded metadata.
func TestNameConflicts(t *testing.T) {
	for json, want := range map[string]string{"marks": "MarksField", "withName": "WithNameField", "unset": "UnsetField"} {
		fields := []*Field{{JSON: "metadata", Embedding: Metadata, Type: &Expr{Target: &Type{Fields: []*Field{{Name: "Name"}}}}}, {JSON: json}}
		nameFields(&Type{Fields: fields})
		if fields[1].Name != want {
			t.Errorf("name of the field %s = %s, want %s", json, fields[1].Name, want)
		}
	}
}

// TestHostileText checks that no description can end its Go comment and become code.
func TestHostileText(t *testing.T) {
	file := filepath.Join(t.TempDir(), "crd.yaml")
	crd := `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: x}, spec: {group: a, names: {kind: Shop}, versions: [
		{name: v1, served: true, schema: {openAPIV3Schema: {type: object, description: "x\nfunc init() {}\r\nfunc init() {}\rfunc init() {}*/ func init() {}", properties: {}}}}]}}`
	if err := os.WriteFile(file, []byte(crd), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	generate(t, dir, "x", []string{"crd", "-f", file})
	for name, content := range filesIn(t, dir) {
		for line := range strings.Lines(content) {
			if strings.Contains(line, "func init") && !strings.HasPrefix(line, "// ") {
				t.Errorf("%s: found the line %q, want the description in comments", name, line)
			}
		}
	}
}

func TestGoName(t *testing.T) {
	for json, want := range map[string]string{
		"replicas": "Replicas", "caBundle": "CABundle", "dnsNames": "DNSNames", "hostIP": "HostIP", "uid": "UID", "x-y.z": "XYZ", "": "Field",
		"2fa": "Field2fa", "$ref": "Ref", "podIPs": "PodIPs", "apiVersion": "APIVersion", "naïve": "NaVe", "JWTToken": "JWTToken",
	} {
		if got := goName(json); got != want {
			t.Errorf("goName(%q) = %s, want %s", json, got, want)
		}
	}
}

// TestUsage checks the errors for missing flags.
func TestUsage(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"crd -f testdata/shops.yaml", "--output-dir, --output-package: expected a folder and its import path"},
		{"crd --output-dir x --output-package y", "-f: expected a file or folder, received none"},
		{"crd -f missing.yaml --output-dir x --output-package y", "missing.yaml"},
		{"go ./testdata/none --output-dir x --output-package y", "expected a package that compiles"},
		{"go . --external a --output-dir x --output-package y", `--external: expected API=APPLYCONFIG, received "a"`},
		{"openapi -f testdata/openapi.json --group none --output-dir x --output-package y", "check --group"},
	} {
		var stderr bytes.Buffer
		if code := Main(t.Context(), strings.Fields(test.args), &stderr, &stderr); code != 1 || !strings.Contains(stderr.String(), test.want) {
			t.Errorf("%s: exit code %d, %s, want 1 and an error that contains %q", test.args, code, &stderr, test.want)
		}
	}
	if err := Write(map[string][]byte{"example.com/y": nil}, "example.com/x", t.TempDir()); err == nil {
		t.Error("Write of a package elsewhere succeeded, want an error")
	}
	if err := Write(map[string][]byte{"example.com/x/../../y": nil}, "example.com/x", t.TempDir()); err == nil {
		t.Error("Write of a package outside of the folder succeeded, want an error")
	}
}
