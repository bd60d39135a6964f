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

var record = flag.Bool("record", false, "record transcripts of kube-apiserver to testdata")

// transcript is the text of the requests, webhook calls and responses of a test case.
type transcript struct {
	strings.Builder
	replacer *strings.Replacer
}

// add appends a request, the webhook calls that it caused, and its response to the transcript.
func (s *transcript) add(request string, calls []webhookCall, a apiResponse) {
	fmt.Fprintf(s, "# %s\n", s.replacer.Replace(request))
	var reviews []string
	for _, one := range calls {
		reviews = append(reviews, fmt.Sprintf("asked %s %s\n", s.clean(one.path), s.clean(indented(one.review))))
	}
	slices.Sort(reviews) // the order of webhooks that are called concurrently varies
	for _, review := range reviews {
		s.WriteString(review)
	}
	for _, warning := range a.warnings {
		fmt.Fprintf(s, "warned %s\n", s.clean(warning))
	}
	fmt.Fprintf(s, "answered %d %s\n\n", a.code, s.clean(indented(parsed(a.body))))
}

func parsed(text string) any {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	return v
}

// indented returns a value as indented JSON. It removes userInfo, which differs between servers, and sorts
// managedFields, whose order depends on the second in which they were written.
func indented(v any) string {
	sortManagedFields(v)
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

// sortManagedFields sorts all managedFields within a value, ignoring their times.
func sortManagedFields(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			sortManagedFields(item)
		}
	case map[string]any:
		for name, value := range v {
			if owners, ok := value.([]any); ok && name == "managedFields" {
				slices.SortFunc(owners, func(a, b any) int { return cmp.Compare(withoutTime(a), withoutTime(b)) })
			}
			sortManagedFields(value)
		}
	}
}

// withoutTime returns a managed fields entry as text, without its time.
func withoutTime(entry any) string {
	fields, ok := entry.(map[string]any)
	if !ok {
		return fmt.Sprint(entry)
	}
	fields = maps.Clone(fields)
	delete(fields, "time")
	return fmt.Sprint(fields) // fmt prints maps sorted by key
}

// masks lists the patterns of texts that differ between runs, and the placeholders that replace them.
var masks = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "UID"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`), "TIME"},
	{regexp.MustCompile(`"resourceVersion": "\d+"`), `"resourceVersion": "RV"`},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "HOST"},
	{regexp.MustCompile(`timeout=\d+s`), "timeout=SECONDS"},
	{regexp.MustCompile(`: the field is .*, its owner has written it since TIME`), ""}, // Cadastre adds this text to the message of a conflict
	{regexp.MustCompile(`(please fix your requests): .*`), "$1"},                       // the servers word the reason differently
	{regexp.MustCompile(`generated-[a-z0-9]{5}`), "generated-NAME"},
	{regexp.MustCompile(`lookup ([a-z.]+) on [0-9.:]+`), "lookup $1 on DNS"},
}

func (s *transcript) clean(text string) string {
	text = s.replacer.Replace(text)
	for _, n := range masks {
		text = n.pattern.ReplaceAllString(text, n.instead)
	}
	return text
}

// check compares the transcript with the one in testdata. With -record it writes the transcript to testdata instead.
func (s *transcript) check(t *testing.T) {
	t.Helper()
	file := filepath.Join("testdata", strings.ReplaceAll(filepath.Base(t.Name()), " ", "-")+".txt")
	if *record {
		if target.Implementation() != target.KubeAPIServer {
			t.Fatalf("-record: expected %s=%s, because only transcripts of kube-apiserver are recorded", target.Variable, target.KubeAPIServer)
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
			t.Fatalf("%s:%d: first difference; got:\n%s\nwant:\n%s", file, i+1, excerpt(got, i), excerpt(expected, i))
		}
	}
}

// excerpt returns the lines around the line with index i.
func excerpt(lines []string, i int) string {
	return strings.Join(lines[min(len(lines), max(0, i-4)):min(len(lines), i+12)], "\n")
}
