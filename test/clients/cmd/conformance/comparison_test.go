package main

import (
	"strings"
	"testing"

	"github.com/cadastre/cadastre/applytest"
)

// TestDocument checks that the document names the server of each skipped and each failed script.
func TestDocument(t *testing.T) {
	failed := applytest.Result{Name: "area/a", Area: "area", Behaviour: "It works.", Outcome: applytest.Fail, Failure: &applytest.Failure{Step: "last"}}
	skipped := applytest.Result{Name: "area/b", Area: "area", Outcome: applytest.Skip, Reason: "it can't"}
	passed := func(r applytest.Result) applytest.Result {
		return applytest.Result{Name: r.Name, Area: r.Area, Outcome: applytest.Pass}
	}
	c := comparison{
		kubeAPIServer: &applytest.Report{Version: "v1", Results: []applytest.Result{passed(failed), skipped}},
		cadastre:      &applytest.Report{Version: "v2", Results: []applytest.Result{failed, passed(skipped)}},
	}
	text := string(c.document())
	for _, line := range []string{
		"| kube-apiserver | v1 | 1 | 0 | 1 |", "| Cadastre | v2 | 1 | 1 | 0 |", "| area | 2 | 0 | 0 | 1 | 1 |",
		"- `area/a` on Cadastre, step \"last\": It works.", "- `area/b` is skipped on kube-apiserver: it can't",
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("the document does not contain the line %s, got:\n%s", line, text)
		}
	}
}

// TestAnchor checks that anchors are those of Markdown renderers.
func TestAnchor(t *testing.T) {
	if got := anchor("$patch: merge is allowed, in JSON (KEP-5051)"); got != "patch-merge-is-allowed-in-json-kep-5051" {
		t.Errorf("anchor() = %q, want patch-merge-is-allowed-in-json-kep-5051", got)
	}
}
