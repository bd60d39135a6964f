package material_test

import (
	"slices"
	"testing"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cli/crdlint"
	"github.com/cadastre/cadastre/test/clients/material"
)

// cleanProjects are the projects without a warning. All others have lists that appliers overwrite; the test requires
// findings of them, so that a rule that stops reporting is noticed.
var cleanProjects = map[string]bool{"cert-manager": true, "gateway-api": true}

// TestLintProjects lints the CustomResourceDefinitions of each project. kube-apiserver accepts all of them, so that
// findings of severity error are wrong.
func TestLintProjects(t *testing.T) {
	for _, project := range material.Projects {
		t.Run(project.Name, func(t *testing.T) {
			files, err := project.Fetch(t.Context())
			check(t, err)
			manifest, err := project.Read(files)
			check(t, err)
			counts := map[crdlint.Severity]int{}
			for _, definition := range manifest.Definitions {
				doc, err := document.FromGo(definition.Object.Object)
				check(t, err)
				found, err := crdlint.Lint(doc)
				check(t, err)
				rejections, err := crdlint.Rejections(doc, found)
				check(t, err)
				for _, f := range slices.Concat(found, rejections) {
					counts[f.Severity]++
					if f.Severity == crdlint.Error {
						t.Errorf("%s %s: error %s (%s), want none: kube-apiserver accepts the definition", f.Definition, f.Path, f.Rule, f.Reason)
					}
				}
			}
			t.Logf("%d definitions: %d warnings, %d notes", len(manifest.Definitions), counts[crdlint.Warning], counts[crdlint.Note])
			if clean := counts[crdlint.Warning] == 0; clean != cleanProjects[project.Name] {
				t.Errorf("%d warnings, clean = %v, want %v", counts[crdlint.Warning], clean, cleanProjects[project.Name])
			}
		})
	}
}
