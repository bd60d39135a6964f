package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/internal/kinds"
)

// The oracle is what kube-apiserver 1.36 tells about itself, as module k8s.io/kubernetes has it in
// its folder api. It is big, so tests compare with goldens: facts and hashes that are made of it.
// With -kubernetes, goldens are checked against that folder, and differences are told in full;
// with -update too, they are written anew.
var (
	kubernetes = flag.String("kubernetes", "", "the folder of module k8s.io/kubernetes")
	update     = flag.Bool("update", false, "write the goldens anew; needs -kubernetes")
)

// golden returns the lines of a golden. made makes them of the oracle.
func golden(t *testing.T, name string, made func(folder string) []string) []string {
	t.Helper()
	name = filepath.Join("testdata", name)
	if *kubernetes != "" && *update {
		if err := os.WriteFile(name, []byte(strings.Join(made(*kubernetes), "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if *kubernetes != "" && !slices.Equal(lines, made(*kubernetes)) {
		t.Errorf("%s is not what the oracle says: run the test with -update", name)
	}
	return lines
}

func readJSON(t *testing.T, name string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return parseJSON(t, text)
}

func parseJSON(t *testing.T, text []byte) (v map[string]any) {
	t.Helper()
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// differ says how two lists of lines differ.
func differ(t *testing.T, ours, theirs []string) {
	t.Helper()
	for _, line := range ours {
		if !slices.Contains(theirs, line) {
			t.Errorf("only we have    %s", line)
		}
	}
	for _, line := range theirs {
		if !slices.Contains(ours, line) {
			t.Errorf("only they have  %s", line)
		}
	}
}

// servedVersions are the groups and versions of the built-in kinds, as discovery's files are named.
func servedVersions() (names []string) {
	for _, gv := range groupVersions(kinds.Builtin()) {
		names = append(names, strings.ReplaceAll(prefix(gv.Group, gv.Version)[1:], "/", "__"))
	}
	return names
}

// facts takes from a document what is not compared: texts; enums, which the oracle's files
// leave out although the server tells them; what we do not serve.
func facts(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, v := range value {
			_, isText := v.(string)
			_, isList := v.([]any)
			if name == "description" && isText || name == "enum" && isList {
				continue
			}
			out[name] = facts(v)
		}
		return out
	case []any:
		out := []any{}
		for _, v := range value {
			if !unserved(v) {
				out = append(out, facts(v))
			}
		}
		return out
	}
	return value
}

// unserved is for items of lists: parameters of alpha features, kinds of groups that we do not serve, and the
// parameter that only we have, which TestTakingOverIsDeclared is about.
func unserved(item any) bool {
	v, _ := item.(map[string]any)
	if name := v["name"]; name == "shardSelector" || name == "ignoreStoreReadErrorWithClusterBreakingPotential" || name == "takeOver" {
		return true
	}
	group, isKind := v["group"].(string)
	if !isKind || v["kind"] != "DeleteOptions" {
		return false
	}
	return !slices.ContainsFunc(kinds.Builtin(), func(k *kinds.Kind) bool { return k.Group == group && k.HasVersion(v["version"].(string)) })
}

// inlined puts the declared parameters of version 2 where they are referred to.
func inlined(value any, declared map[string]any) any {
	switch value := value.(type) {
	case map[string]any:
		if ref, ok := value["$ref"].(string); ok && strings.HasPrefix(ref, "#/parameters/") {
			return declared[strings.TrimPrefix(ref, "#/parameters/")]
		}
		out := map[string]any{}
		for name, v := range value {
			out[name] = inlined(v, declared)
		}
		return out
	case []any:
		out := []any{}
		for _, v := range value {
			out = append(out, inlined(v, declared))
		}
		return out
	}
	return value
}

func hash(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// tell says where two values differ.
func tell(at string, ours, theirs any, say func(string)) {
	a, isMap := ours.(map[string]any)
	b, areMaps := theirs.(map[string]any)
	if !isMap || !areMaps {
		if hash(ours) != hash(theirs) {
			say(fmt.Sprintf("%s: ours %.200v, theirs %.200v", at, ours, theirs))
		}
		return
	}
	names := maps.Clone(a)
	maps.Copy(names, b)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		tell(at+"."+name, a[name], b[name], say)
	}
}
