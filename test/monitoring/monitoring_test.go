// Package monitoring checks the alerts and the dashboard in packaging/monitoring with the parsers of Prometheus.
package monitoring

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"sigs.k8s.io/yaml"
)

const (
	folder = "../../packaging/monitoring/"
	manual = "../../docs/server/operations.md"
	alerts = "../../docs/server/monitoring.md"
)

// metricRow matches a line of the table of metrics in the manual, which a test of package docs compares with the server.
var metricRow = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| (counter|gauge|histogram) \\|")

// servedMetrics returns the names of the series that the server has: the metrics of the table, and those of the Go runtime and of the
// process that the files use.
func servedMetrics(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	// The manual does not list the metrics of the libraries, nor those of the disk.
	served := map[string]bool{}
	for _, name := range []string{
		"up", "process_start_time_seconds", "process_resident_memory_bytes", "process_cpu_seconds_total", "go_goroutines", "go_memstats_heap_inuse_bytes",
		"cadastre_store_free_bytes",
	} {
		served[name] = true
	}
	rows := metricRow.FindAllStringSubmatch(string(text), -1)
	if len(rows) < 50 {
		t.Fatalf("%s: found %d metrics, want at least 50", manual, len(rows))
	}
	for _, row := range rows {
		if row[2] != "histogram" {
			served[row[1]] = true
			continue
		}
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			served[row[1]+suffix] = true
		}
	}
	return served
}

// checkExpression parses an expression and checks that each metric in it exists and that its selector names the job.
func checkExpression(expression string, served map[string]bool) error {
	parsed, err := parser.ParseExpr(expression)
	if err != nil {
		return err
	}
	found := false
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		selector, ok := node.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		found = true
		if !served[selector.Name] {
			err = fmt.Errorf("the server has no metric %s", selector.Name)
		}
		if !slices.ContainsFunc(selector.LabelMatchers, func(m *labels.Matcher) bool { return m.Name == "job" }) {
			err = fmt.Errorf("%s selects no job", selector.Name)
		}
		return nil
	})
	if err == nil && !found {
		err = fmt.Errorf("no metric in %s", expression)
	}
	return err
}

func readRules(t *testing.T) *rulefmt.RuleGroups {
	t.Helper()
	groups, errs := rulefmt.ParseFile(folder+"rules.yaml", false, model.UTF8Validation)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return groups
}

// TestRules: Prometheus accepts the rules; their metrics exist; the manual describes each alert.
func TestRules(t *testing.T) {
	served := servedMetrics(t)
	page, err := os.ReadFile(alerts)
	if err != nil {
		t.Fatal(err)
	}
	number := 0
	for _, group := range readRules(t).Groups {
		for _, rule := range group.Rules {
			number++
			if err := checkExpression(rule.Expr, served); err != nil {
				t.Errorf("%s: %v", rule.Alert, err)
			}
			if rule.Alert == "" || rule.Annotations["summary"] == "" || !slices.Contains([]string{"critical", "warning", "info"}, rule.Labels["severity"]) {
				t.Errorf("%s: expected an alert with a summary and a severity", rule.Alert)
			}
			if !strings.Contains(string(page), "| `"+rule.Alert+"` |") {
				t.Errorf("%s does not list %s", alerts, rule.Alert)
			}
		}
	}
	if listed := strings.Count(string(page), "\n| `Cadastre"); listed != number {
		t.Errorf("%s lists %d alerts, there are %d", alerts, listed, number)
	}
}

// TestPrometheusRule: the object for the Prometheus operator has the groups of the rule file.
func TestPrometheusRule(t *testing.T) {
	var object struct {
		APIVersion, Kind string
		Spec             any
	}
	var file any
	for name, into := range map[string]any{"prometheusrule.yaml": &object, "rules.yaml": &file} {
		text, err := os.ReadFile(folder + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(text, into); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if object.APIVersion != "monitoring.coreos.com/v1" || object.Kind != "PrometheusRule" {
		t.Errorf("prometheusrule.yaml is a %s of %s", object.Kind, object.APIVersion)
	}
	got, _ := json.Marshal(object.Spec)
	want, _ := json.Marshal(file)
	if string(got) != string(want) {
		t.Errorf("spec of prometheusrule.yaml = %s, want the contents of rules.yaml: %s", got, want)
	}
}

// panel is a panel of the dashboard, with the fields that Grafana requires of the kinds of panels that the dashboard uses.
type panel struct {
	ID      int                      `json:"id"`
	Title   string                   `json:"title"`
	Type    string                   `json:"type"`
	GridPos struct{ H, W, X, Y int } `json:"gridPos"`
	Targets []struct {
		RefID string `json:"refId"`
		Expr  string `json:"expr"`
	} `json:"targets"`
}

// gridWidth is the width of a dashboard of Grafana in columns.
const gridWidth = 24

// check returns an error if Grafana could not show the panel.
func (p panel) check() error {
	switch g := p.GridPos; {
	case p.ID == 0 || p.Title == "":
		return fmt.Errorf("expected an id and a title, received id %d and title %q", p.ID, p.Title)
	case !slices.Contains([]string{"row", "timeseries", "stat", "gauge", "table", "heatmap", "bargauge"}, p.Type):
		return fmt.Errorf("expected a type of panel of Grafana, received %q", p.Type)
	case g.W < 1 || g.H < 1 || g.X < 0 || g.Y < 0 || g.X+g.W > gridWidth:
		return fmt.Errorf("expected a position within %d columns, received %+v", gridWidth, g)
	case p.Type != "row" && len(p.Targets) == 0:
		return errors.New("expected a query, received none")
	}
	var ids []string
	for _, target := range p.Targets {
		if target.RefID == "" || slices.Contains(ids, target.RefID) {
			return fmt.Errorf("expected a refId of its own for each query, received %q", target.RefID)
		}
		ids = append(ids, target.RefID)
	}
	return nil
}

// TestDashboard: Grafana can show each panel of the dashboard; its queries can be parsed, and their metrics exist.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile(folder + "dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		UID           string
		SchemaVersion int
		Panels        []panel
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	if dashboard.UID == "" || dashboard.SchemaVersion < 30 {
		t.Errorf("uid = %q, schemaVersion = %d, want a uid and a version of Grafana's current schema", dashboard.UID, dashboard.SchemaVersion)
	}
	served, number, ids := servedMetrics(t), 0, map[int]bool{}
	for _, panel := range dashboard.Panels {
		if err := panel.check(); err != nil {
			t.Errorf("%s: %v", panel.Title, err)
		}
		if ids[panel.ID] {
			t.Errorf("%s: the id %d is that of another panel", panel.Title, panel.ID)
		}
		ids[panel.ID] = true
		for _, target := range panel.Targets {
			number++
			// Grafana replaces variables before Prometheus parses the query.
			if err := checkExpression(strings.ReplaceAll(target.Expr, "$__rate_interval", "5m"), served); err != nil {
				t.Errorf("%s: %v", panel.Title, err)
			}
		}
	}
	if number < 15 {
		t.Errorf("number of queries = %d, want at least 15", number)
	}
	if !strings.Contains(string(text), "label_values(cadastre_store_commit_duration_seconds_count") {
		t.Error("the variable job has no metric of the server")
	}
}

// TestUnknownMetric: the check finds metrics that do not exist, and queries that cannot be parsed.
func TestUnknownMetric(t *testing.T) {
	served := map[string]bool{"known": true}
	for expression, want := range map[string]string{
		`rate(known{job="a"}[5m])`:                "",
		`known{job="a"} / unknown{job="a"}`:       "no metric unknown",
		`sum(known)`:                              "selects no job",
		`sum(known{job="a"}`:                      "parse error",
		`vector(1)`:                               "no metric in",
		`rate(known{job="a"}) and known{job="a"}`: "parse error",
	} {
		if err := checkExpression(expression, served); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: error = %v, want %q", expression, err, want)
		}
	}
}
