package cli

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cli/cluster"
)

// TestConflictsAllocations checks that conflictsOf decodes field sets once, not once per conflict.
func TestConflictsAllocations(t *testing.T) {
	cost := func(n int) float64 {
		live, configured, refused := newConflicts(t, n)
		if conflicts := conflictsOf(refused, "m", live, configured); len(conflicts) != n || len(conflicts[0].owners) != 2 {
			t.Fatalf("conflictsOf() of %d fields with two owners = %d conflicts, owners %v, want %[1]d conflicts with 2 owners each", n, len(conflicts), conflicts[0].owners)
		}
		return testing.AllocsPerRun(1, func() { conflictsOf(refused, "m", live, configured) })
	}
	if few, many := cost(100), cost(400); many > 6*few {
		t.Errorf("conflictsOf() allocated %v times for 100 conflicts and %v times for 400, want linear growth", few, many)
	}
}

// newConflicts returns an object with n fields that two field managers own, a configuration with different values of these
// fields, and the conflict error with which a server rejects its apply.
func newConflicts(t *testing.T, n int) (live apply.Object, configured document.Value, refused error) {
	t.Helper()
	var values, owned strings.Builder
	e := &cluster.Error{Code: http.StatusConflict}
	for i := range n {
		fmt.Fprintf(&values, `,"k%d":"x"`, i)
		fmt.Fprintf(&owned, `,"f:k%d":{}`, i)
		for range 2 {
			e.Causes = append(e.Causes, cluster.Cause{Reason: conflictReason, Field: fmt.Sprint(".data.k", i)})
		}
	}
	live.Document = parseJSON(t, `{"data":{`+values.String()[1:]+`}}`)
	for _, manager := range []string{"a", "b"} {
		live.Entries = append(live.Entries, apply.Entry{Manager: manager, Operation: apply.Apply, APIVersion: "v1", FieldsV1: `{"f:data":{` + owned.String()[1:] + `}}`})
	}
	return live, parseJSON(t, strings.ReplaceAll(live.Document.JSON(), `"x"`, `"y"`)), e
}
