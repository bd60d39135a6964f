package script

import (
	"bytes"
	"encoding/json"

	"github.com/rogpeppe/go-internal/testscript"
	"k8s.io/client-go/util/jsonpath"
)

// jsonCommand implements the command json: it compares a part of a JSON document with an expected text.
func jsonCommand(ts *testscript.TestScript, negated bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: json FILE|stdout TEMPLATE WANT")
	}
	got := project(ts, ts.ReadFile(args[0]), args[1])
	if (got == args[2]) == negated {
		ts.Fatalf("%s of %s = %q, want %q", args[1], args[0], got, args[2])
	}
}

// project returns the result of a JSONPath template. An absent value is the empty string.
func project(ts *testscript.TestScript, document, template string) string {
	var value any
	ts.Check(json.Unmarshal([]byte(document), &value))
	path := jsonpath.New("script").AllowMissingKeys(true)
	ts.Check(path.Parse(template))
	var out bytes.Buffer
	ts.Check(path.Execute(&out, value))
	return out.String()
}
