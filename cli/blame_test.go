package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/ownership"
)

// TestBlameView shows owners side by side with their lines, however many there are.
func TestBlameView(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	ci := apply.Entry{Manager: "ci", Operation: apply.Apply, APIVersion: "v1", Time: now.Add(-90 * time.Minute)}
	hpa := apply.Entry{Manager: "hpa", Operation: apply.Update, APIVersion: "v1", Subresource: "scale"}
	old := apply.Entry{Manager: "ünï", Operation: apply.Update, APIVersion: "v0", Time: now.Add(-50 * time.Hour)}
	many := apply.Entry{Manager: strings.Repeat("x", widest), Operation: apply.Apply, APIVersion: "v1", Time: now}
	lines := []ownership.Line{
		{Text: "kind: X", State: ownership.Fixed},
		{Text: "spec:", State: ownership.Container},
		{Text: "  replicas: 1", Owners: []apply.Entry{ci, hpa}},
		{Text: "  items:", Owners: []apply.Entry{many}},
		{Text: "  - name: a", Owners: []apply.Entry{old}, Item: []apply.Entry{ci}},
		{Text: "  default: 1", State: ownership.Unowned},
		{Text: "  # gone is absent", Owners: []apply.Entry{ci}, State: ownership.Absent},
	}
	want := `
-                                       | kind: X
                                        | spec:
ci Apply 90m, hpa Update/scale ?        |   replicas: 1
xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx Apply 0s |   items:
ünï Update v0 2d2h, ci Apply 90m (item) |   - name: a
(nobody)                                |   default: 1
ci Apply 90m                            |   # gone is absent
`
	var b strings.Builder
	blameView{w: &b, now: now, version: "v1", palette: newPalette(false)}.byLine(lines)
	if got := "\n" + b.String(); got != want {
		t.Errorf("received%swant%s", got, want)
	}
}
