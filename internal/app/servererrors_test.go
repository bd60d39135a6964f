package app

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/document"
)

// sample is a valid object of a built-in kind.
type sample struct {
	collection string // path of the resource in the namespace default
	kind       string
	doc        document.Value
}

// samples returns the valid objects of all kinds that the tests of validation use.
func (c *client) samples() (all []sample) {
	c.t.Helper()
	files, err := filepath.Glob("../api/builtin/testdata/validation/objects/*.yaml")
	if err != nil || len(files) == 0 {
		c.t.Fatalf("sample objects: %v, %v", files, err)
	}
	collections := c.collections()
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			c.t.Fatal(err)
		}
		for doc, err := range document.ParseYAMLStream(text, document.Limits{}) {
			if err != nil {
				c.t.Fatalf("%s: %v", file, err)
			}
			kind := doc.Get("apiVersion").Text() + " " + doc.Get("kind").Text()
			if at, ok := collections[kind]; ok {
				all = append(all, sample{at, kind, doc})
			}
		}
	}
	return all
}

// collections returns the path of the resource of each served kind, by apiVersion and kind.
func (c *client) collections() map[string]string {
	c.t.Helper()
	found := map[string]string{}
	var groups struct {
		Groups []struct {
			Versions []struct{ GroupVersion string }
		}
	}
	c.decode("/apis", &groups)
	prefixes := map[string]string{"v1": "/api/v1"}
	for _, g := range groups.Groups {
		for _, v := range g.Versions {
			prefixes[v.GroupVersion] = "/apis/" + v.GroupVersion
		}
	}
	for version, prefix := range prefixes {
		var list struct {
			Resources []struct {
				Name, Kind string
				Namespaced bool
				Verbs      []string
			}
		}
		c.decode(prefix, &list)
		for _, r := range list.Resources {
			if strings.Contains(r.Name, "/") || !slices.Contains(r.Verbs, "create") {
				continue
			}
			at := prefix + "/" + r.Name
			if r.Namespaced {
				at = prefix + "/namespaces/default/" + r.Name
			}
			found[version+" "+r.Kind] = at
		}
	}
	return found
}

func (c *client) decode(path string, target any) {
	c.t.Helper()
	if err := json.Unmarshal([]byte(c.call("GET", path, "").want(200).text), target); err != nil {
		c.t.Fatal(err)
	}
}

// hostileNames are values of metadata.name and metadata.generateName, as JSON.
var hostileNames = []string{`""`, `null`, `"\u0000"`, `"a\u0000b"`, `"a/b"`, `".."`, `"."`, `"a%b"`, `" "`, `1`, `[]`, `{}`, `"ä"`, `"a\nb"`, `"\ufffd"`, `"` + strings.Repeat("a", 300) + `"`, `"` + strings.Repeat("a/", 3000) + `"`}

// hostileValues are values of any field, as JSON.
var hostileValues = []string{`null`, `""`, `"\u0000"`, `-1`, `0`, `1.5`, `9223372036854775808`, `-9223372036854775808`, `1e300`, `true`, `[]`, `{}`, `[null]`, `[[]]`, `{"":null}`, `{"a":{"":[]}}`,
	`"` + strings.Repeat("x", 5000) + `"`, `"$(("`, `"9999999999999999999Ei"`, `"2000-13-45T99:99:99Z"`, `"system:x"`, `"a/b/c"`, `"*"`, `[1,"1",null,{}]`}

// mutated returns variants of an object: each name and each field is replaced by hostile values or removed.
func (s sample) mutated() (all []document.Value) {
	parse := func(text string) document.Value {
		v, err := document.ParseJSON(text)
		if err != nil {
			panic(err)
		}
		return v
	}
	metadata := s.doc.Get("metadata")
	for _, text := range hostileNames {
		all = append(all, s.doc.With("metadata", metadata.With("name", parse(text))),
			s.doc.With("metadata", metadata.Without("name").With("generateName", parse(text))),
			s.doc.With("metadata", metadata.With("namespace", parse(text))),
			s.doc.With("metadata", metadata.With("uid", parse(text))),
			s.doc.With("metadata", metadata.With("resourceVersion", parse(text))),
			s.doc.With("metadata", metadata.With("finalizers", document.NewList(parse(text)))),
			s.doc.With("metadata", metadata.With("labels", parse(`{"a":`+text+`}`))),
			s.doc.With("metadata", metadata.With("annotations", parse(`{"kubectl.kubernetes.io/last-applied-configuration":`+text+`}`))),
			s.doc.With("metadata", metadata.With("managedFields", parse(`[{"manager":`+text+`,"operation":"Apply","apiVersion":`+text+`,"fieldsType":"FieldsV1","fieldsV1":{"f:a":`+text+`}}]`))),
			s.doc.With("metadata", metadata.With("ownerReferences", parse(`[{"apiVersion":"v1","kind":"Pod","name":`+text+`,"uid":`+text+`}]`))))
	}
	all = append(all, s.doc.Without("metadata"), s.doc.With("metadata", metadata.Without("name")), s.doc.Without("kind"), s.doc.Without("apiVersion"))
	for _, text := range hostileValues {
		all = append(all, replaced(s.doc, parse(text))...)
	}
	return all
}

// replaced returns variants of v, each with one of its values, at any depth, replaced by another value.
func replaced(v, by document.Value) (all []document.Value) {
	for i := range v.Len() {
		with := func(child document.Value) document.Value {
			if v.Kind() == document.Map {
				return v.With(v.Name(i), child)
			}
			items := make([]document.Value, v.Len())
			for j := range items {
				items[j] = v.At(j)
			}
			items[i] = child
			return document.NewList(items...)
		}
		if v.Kind() == document.Map && (v.Name(i) == "kind" || v.Name(i) == "apiVersion") {
			continue
		}
		all = append(all, with(by))
		for _, child := range replaced(v.At(i), by) {
			all = append(all, with(child))
		}
	}
	return all
}

// TestNoServerErrors sends mutations of valid objects of every kind with all verbs, and checks that each response has a code
// below 500. CADASTRE_FUZZ=all sends all mutations instead of a sample.
func TestNoServerErrors(t *testing.T) {
	c := start(t, Config{Log: slog.New(slog.DiscardHandler)})
	random := rand.New(rand.NewPCG(1, 2))
	const perObject = 60
	failures := map[string]int{}
	check := func(method, path, body, media string, s sample) {
		answer := c.call(method, path, body, "Content-Type: "+media)
		if answer.code < 500 {
			return
		}
		var status struct{ Message string }
		_ = json.Unmarshal([]byte(answer.text), &status)
		key := fmt.Sprintf("%s %s (%s): %d %.160s", method, s.kind, media, answer.code, status.Message)
		if failures[key]++; failures[key] == 1 {
			t.Errorf("%s\n  %s\n  %.1500s", key, path, body)
		}
	}
	sent := 0
	for _, s := range c.samples() {
		c.call("POST", s.collection, s.doc.JSON())
		name := s.doc.Lookup("metadata", "name").Text()
		all := s.mutated()
		if os.Getenv("CADASTRE_FUZZ") != "all" {
			random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			all = all[:min(len(all), perObject)]
		}
		for i, doc := range all {
			body := doc.JSON()
			check("POST", s.collection+"?dryRun=All", body, "application/json", s)
			if i%2 == 0 {
				check("POST", s.collection, body, "application/json", s)
			}
			at := s.collection + "/" + url.PathEscape(name)
			for _, request := range []struct{ method, query, body, media string }{
				{"PUT", "", body, "application/json"},
				{"PATCH", "?fieldManager=m&force=true", body, applyType},
				{"PATCH", "", body, mergeType},
				{"PATCH", "", body, "application/strategic-merge-patch+json"},
				{"PATCH", "", `[{"op":"replace","path":"","value":` + body + `}]`, "application/json-patch+json"},
				{"DELETE", "?dryRun=All", body, "application/json"},
			} {
				if random.IntN(3) == 0 || os.Getenv("CADASTRE_FUZZ") == "all" {
					check(request.method, at+request.query, request.body, request.media, s)
				}
			}
			if other := doc.Lookup("metadata", "name"); i%3 == 0 && other.Kind() == document.String && other.Text() != "" && other.Text() != name {
				at := s.collection + "/" + url.PathEscape(other.Text())
				check("GET", at, "", "application/json", s)
				check("PUT", at, body, "application/json", s)
				check("PATCH", at+"?fieldManager=m", body, applyType, s)
				check("DELETE", at, "", "application/json", s)
			}
		}
		sent += len(all)
	}
	for _, key := range slices.Sorted(maps.Keys(failures)) {
		t.Logf("%6d %s", failures[key], key)
	}
	if sent < 3000 {
		t.Errorf("number of mutations: got %d, want at least 3000", sent)
	}
}

// TestInvalidNames checks that names which cannot be part of a storage key are rejected with a 422 for kinds whose validation
// permits nearly all names.
func TestInvalidNames(t *testing.T) {
	c := start(t, Config{})
	const namespace = "/api/v1/namespaces/default/"
	for path, rest := range map[string]string{
		namespace + "limitranges": `"spec":{"limits":[]}`,
		namespace + "services":    `"spec":{"ports":[{"port":80}]}`,
		namespace + "events":      `"involvedObject":{"namespace":"default"}`,
		"/apis/policy/v1/namespaces/default/poddisruptionbudgets":     `"spec":{}`,
		"/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles": `"rules":[]`,
		"/apis/rbac.authorization.k8s.io/v1/clusterroles":             `"rules":[]`,
	} {
		for _, name := range []string{``, `"name":""`, `"name":"a\u0000b"`, `"generateName":"a\u0000b"`, `"name":"a/b"`} {
			for _, query := range []string{"", "?dryRun=All"} {
				if answer := c.call("POST", path+query, `{"metadata":{`+name+`},`+rest+`}`); answer.code != 422 || !strings.Contains(answer.text, `"field":"metadata.name"`) {
					t.Errorf("create at %s with metadata {%s}: got %d %s, want 422 for metadata.name", path+query, name, answer.code, answer.text)
				}
			}
		}
		if answer := c.call("POST", path+"?dryRun=All", `{"metadata":{"generateName":".."},`+rest+`}`); !strings.HasSuffix(path, "limitranges") && !strings.HasSuffix(path, "services") && answer.code != 201 {
			t.Errorf("create at %s with generateName \"..\": got %d %s, want 201", path, answer.code, answer.text)
		}
		if answer := c.apply(path+"/a%00b", "m", `{"metadata":{"name":"a\u0000b"},`+rest+`}`); answer.code >= 500 {
			t.Errorf("apply at %s/a%%00b: got %d %s, want an error of the client", path, answer.code, answer.text)
		}
	}
}
