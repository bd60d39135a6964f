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
func (tr *transcript) add(request string, calls []webhookCall, a apiResponse) {
	fmt.Fprintf(tr, "# %s\n", tr.replacer.Replace(request))
	var reviews []string
	for _, one := range calls {
		reviews = append(reviews, fmt.Sprintf("asked %s %s\n", tr.clean(one.path), tr.clean(indentedJSON(one.review))))
	}
	slices.Sort(reviews) // the order of webhooks that are called concurrently varies
	for _, review := range reviews {
		tr.WriteString(review)
	}
	for _, warning := range a.warnings {
		fmt.Fprintf(tr, "warned %s\n", tr.clean(warning))
	}
	fmt.Fprintf(tr, "answered %d %s\n\n", a.code, tr.clean(indentedJSON(decodeJSON(a.body))))
}

func decodeJSON(text string) any {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	return v
}

// indentedJSON returns v as indented JSON. It modifies v: it removes userInfo, which differs between servers, and sorts
// managedFields, whose order depends on the second in which they were written.
func indentedJSON(v any) string {
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

// sortManagedFields sorts all managedFields within v in place, ignoring their times.
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

// withoutTime returns entry, a managed fields entry, as text without its time.
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

func (tr *transcript) clean(text string) string {
	text = tr.replacer.Replace(text)
	for _, n := range masks {
		text = n.pattern.ReplaceAllString(text, n.instead)
	}
	return text
}

// check compares the transcript with the file in testdata that has the name of the test. With -record it writes the
// transcript to testdata instead.
func (tr *transcript) check(t *testing.T) {
	t.Helper()
	file := filepath.Join("testdata", strings.ReplaceAll(filepath.Base(t.Name()), " ", "-")+".txt")
	if *record {
		if target.Implementation() != target.KubeAPIServer {
			t.Fatalf("-record requires %s=%s, because only transcripts of kube-apiserver are recorded", target.Variable, target.KubeAPIServer)
		}
		if err := os.WriteFile(file, []byte(tr.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if tr.String() == string(want) {
		return
	}
	got, expected := strings.Split(tr.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(got), len(expected)) {
		if i >= len(got) || i >= len(expected) || got[i] != expected[i] {
			t.Fatalf("%s:%d: the transcript differs; got:\n%s\nwant:\n%s", file, i+1, excerpt(got, i), excerpt(expected, i))
		}
	}
}

// excerpt returns the line with index i, up to 4 lines before it and up to 11 lines after it.
func excerpt(lines []string, i int) string {
	return strings.Join(lines[min(len(lines), max(0, i-4)):min(len(lines), i+12)], "\n")
}
