package script

import (
	"bytes"
	"encoding/json"

	"github.com/rogpeppe/go-internal/testscript"
	"k8s.io/client-go/util/jsonpath"
)

// jsonCommand implements the command json: it fails the script if the result of a JSONPath template differs from an
// expected text or, if negated, equals it.
func jsonCommand(ts *testscript.TestScript, negated bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: json FILE|stdout TEMPLATE WANT")
	}
	got := project(ts, ts.ReadFile(args[0]), args[1])
	switch {
	case negated && got == args[2]:
		ts.Fatalf("%s of %s = %q, want a different value", args[1], args[0], got)
	case !negated && got != args[2]:
		ts.Fatalf("%s of %s = %q, want %q", args[1], args[0], got, args[2])
	}
}

// project returns the result of the JSONPath template for document. An absent value is the empty string.
func project(ts *testscript.TestScript, document, template string) string {
	var value any
	ts.Check(json.Unmarshal([]byte(document), &value))
	path := jsonpath.New("script").AllowMissingKeys(true)
	ts.Check(path.Parse(template))
	var out bytes.Buffer
	ts.Check(path.Execute(&out, value))
	return out.String()
}
