package script

import (
	"encoding/json"
	"fmt"

	"github.com/rogpeppe/go-internal/testscript"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cadastre/cadastre/test/clients/owners"
)

// ownersCommand implements the command owners: it prints the managedFields of an object, which the script compares with
// a file by cmp.
func ownersCommand(ts *testscript.TestScript, negated bool, args []string) {
	if negated || len(args) != 1 {
		ts.Fatalf("usage: owners RESOURCE/NAME")
	}
	ts.Check(ts.Exec("kubectl", "get", args[0], "--show-managed-fields", "-o", "json"))
	var object metav1.PartialObjectMetadata
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &object))
	lines, err := owners.Lines(object.ManagedFields)
	ts.Check(err)
	_, err = fmt.Fprint(ts.Stdout(), lines)
	ts.Check(err)
}
