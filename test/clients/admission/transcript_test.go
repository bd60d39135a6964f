package admission

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/test/clients/target"
)

var record = flag.Bool("record", false, "write what kube-apiserver does to testdata")

// A transcript is what was asked and answered.
type transcript struct {
	strings.Builder
	names *strings.Replacer
}

// add writes down a request, what webhooks were asked because of it, and the answer.
func (s *transcript) add(request string, asked []asked, a answer) {
	fmt.Fprintf(s, "# %s\n", s.names.Replace(request))
	var reviews []string
	for _, one := range asked {
		reviews = append(reviews, fmt.Sprintf("asked %s %s\n", s.clean(one.path), s.clean(shown(one.review))))
	}
	slices.Sort(reviews) // those who are asked side by side come in any order
	for _, review := range reviews {
		s.WriteString(review)
	}
	for _, warning := range a.warnings {
		fmt.Fprintf(s, "warned %s\n", s.clean(warning))
	}
	fmt.Fprintf(s, "answered %d %s\n\n", a.code, s.clean(shown(parsed(a.body))))
}

func parsed(text string) any {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	return v
}

// shown returns a value as text. Who the user is differs between servers, and the order of owners with whether a second
// ended between their writes.
func shown(v any) string {
	sortOwners(v)
	if review, ok := v.(map[string]any); ok {
		if request, ok := review["request"].(map[string]any); ok {
			user, _ := request["userInfo"].(map[string]any)
			if user["username"] == nil || user["groups"] == nil {
				request["userInfo"] = fmt.Sprintf("LACKS: %v", user)
			} else {
				delete(request, "userInfo")
			}
		}
	}
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// sortOwners sorts the managedFields in a value by all but their times.
func sortOwners(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			sortOwners(item)
		}
	case map[string]any:
		for name, value := range v {
			if owners, ok := value.([]any); ok && name == "managedFields" {
				slices.SortFunc(owners, func(a, b any) int { return cmp.Compare(timeless(a), timeless(b)) })
			}
			sortOwners(value)
		}
	}
}

// timeless returns an entry of managedFields as text, without its time.
func timeless(entry any) string {
	fields, ok := entry.(map[string]any)
	if !ok {
		return fmt.Sprint(entry)
	}
	fields = maps.Clone(fields)
	delete(fields, "time")
	return fmt.Sprint(fields) // in the order of their names
}

// what differs between any two runs.
var noise = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "UID"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`), "TIME"},
	{regexp.MustCompile(`"resourceVersion": "\d+"`), `"resourceVersion": "RV"`},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "HOST"},
	{regexp.MustCompile(`timeout=\d+s`), "timeout=SECONDS"},
	{regexp.MustCompile(`: the field is .*, its owner has written it since TIME`), ""}, // what Cadastre says beside
	{regexp.MustCompile(`(please fix your requests): .*`), "$1"},                       // why managedFields are bad has other words
	{regexp.MustCompile(`generated-[a-z0-9]{5}`), "generated-NAME"},
	{regexp.MustCompile(`lookup ([a-z.]+) on [0-9.:]+`), "lookup $1 on DNS"},
}

func (s *transcript) clean(text string) string {
	text = s.names.Replace(text)
	for _, n := range noise {
		text = n.pattern.ReplaceAllString(text, n.instead)
	}
	return text
}

// check holds the transcript against the one in testdata, or writes it.
func (s *transcript) check(t *testing.T) {
	t.Helper()
	file := filepath.Join("testdata", strings.ReplaceAll(filepath.Base(t.Name()), " ", "-")+".txt")
	if *record {
		if target.Implementation() != target.KubeAPIServer {
			t.Fatalf("expected %s=%s: only what Kubernetes does is recorded", target.Variable, target.KubeAPIServer)
		}
		if err := os.WriteFile(file, []byte(s.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if s.String() == string(want) {
		return
	}
	got, expected := strings.Split(s.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(got), len(expected)) {
		if i >= len(got) || i >= len(expected) || got[i] != expected[i] {
			t.Fatalf("%s:%d: it goes on otherwise; received:\n%s\nwant:\n%s", file, i+1, part(got, i), part(expected, i))
		}
	}
}

// part returns some lines around one.
func part(lines []string, i int) string {
	return strings.Join(lines[min(len(lines), max(0, i-4)):min(len(lines), i+12)], "\n")
}
