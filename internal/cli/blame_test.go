package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cli/cluster"
	"github.com/cadastre/cadastre/ownership"
)

// TestBlameView checks the layout of lines with no, one and several field managers.
func TestBlameView(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	ci := apply.Entry{Manager: "ci", Operation: apply.Apply, APIVersion: "v1", Time: now.Add(-90 * time.Minute)}
	hpa := apply.Entry{Manager: "hpa", Operation: apply.Update, APIVersion: "v1", Subresource: "scale"}
	old := apply.Entry{Manager: "ünï", Operation: apply.Update, APIVersion: "v0", Time: now.Add(-50 * time.Hour)}
	many := apply.Entry{Manager: strings.Repeat("x", maxLabelWidth), Operation: apply.Apply, APIVersion: "v1", Time: now}
	lines := []ownership.Line{
		{Text: "kind: X", State: ownership.Untracked},
		{Text: "spec:", State: ownership.Container},
		{Text: "  replicas: 1", Owners: []apply.Entry{ci, hpa}},
		{Text: "  items:", Owners: []apply.Entry{many}},
		{Text: "  - name: a", Owners: []apply.Entry{old}, ItemOwners: []apply.Entry{ci}},
		{Text: "  default: 1", State: ownership.Unowned},
		{Text: "  perhaps: 1", State: ownership.Uncertain},
		{Text: "  # gone is absent", Owners: []apply.Entry{ci}, State: ownership.Absent},
	}
	want := `
-                                       | kind: X
                                        | spec:
ci Apply 90m, hpa Update/scale ?        |   replicas: 1
xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx Apply 0s |   items:
ünï Update v0 2d2h, ci Apply 90m (item) |   - name: a
(no owner)                              |   default: 1
?                                       |   perhaps: 1
ci Apply 90m                            |   # gone is absent
`
	var b strings.Builder
	blameView{w: &b, now: now, version: "v1", palette: newPalette(false)}.byLine(lines)
	if got := "\n" + b.String(); got != want {
		t.Errorf("byLine() =%swant%s", got, want)
	}
}

// TestReportOtherVersions checks that a field manager whose fields do not exist at the shown version is reported once, with
// the command that shows the fields if their version is served.
func TestReportOtherVersions(t *testing.T) {
	at := target{cluster.Kind{Group: "example.com", Version: "v2", Name: "Shop", Resource: "shops"}, "default", "web"}
	old := apply.Entry{Manager: "old", Operation: apply.Update, APIVersion: "example.com/v1"}
	older := apply.Entry{Manager: "older", Operation: apply.Apply, APIVersion: "v1beta1"}
	now := apply.Entry{Manager: "now", Operation: apply.Apply, APIVersion: "example.com/v2"}
	lines := []ownership.Line{
		{Owners: []apply.Entry{older}, State: ownership.Absent},
		{Owners: []apply.Entry{old, now}, State: ownership.OtherVersion},
		{Owners: []apply.Entry{old}, State: ownership.OtherVersion},
		{Owners: []apply.Entry{older}, State: ownership.OtherVersion},
	}
	var b strings.Builder
	reportOtherVersions(&b, at, lines, map[string]document.Value{"example.com/v1": document.NewMap()})
	want := `
shop.example.com/web: old Update owns fields at example.com/v1 that do not exist at example.com/v2; ? marks the fields that may correspond to them; run blame shops.v1.example.com web
shop.example.com/web: older Apply owns fields at v1beta1 that do not exist at example.com/v2; ? marks the fields that may correspond to them; the server no longer serves that version
`
	if got := "\n" + b.String(); got != want {
		t.Errorf("reportOtherVersions() =%swant%s", got, want)
	}
}
