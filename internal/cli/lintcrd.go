package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cadastre/cadastre/internal/cli/crdlint"
)

type lintFlags struct {
	output   output
	input    input
	severity string
}

func lintCRDCommand() *cobra.Command {
	var f lintFlags
	command := &cobra.Command{
		Use:   "lint-crd -f FILE",
		Short: "Report list and map types in CustomResourceDefinitions with which appliers conflict",
		Long: `Report the lists and maps of CustomResourceDefinitions with which Server-Side Apply loses or blocks writes: lists
without list type, keys that do not identify items, atomic structs and maps of several writers, versions that disagree,
and others. It also reports the errors with which a server rejects a definition. Each finding has the field, the JSON path in the definition, the reason and the fix. Objects of other kinds
are skipped. No server is required.

The exit code is 0 without findings, 1 with findings, and 2 on errors.`,
		Example: `  cadastre lint-crd -f config/crd/bases/
  cadastre lint-crd -f crd.yaml --severity note -o json`,
		Args: filesOnly,
		RunE: func(c *cobra.Command, _ []string) error {
			return lintCRDs(c.Context(), f, c.InOrStdin(), c.OutOrStdout())
		},
	}
	f.output.bind(command.Flags(), "text", "json")
	f.input.bind(command.Flags())
	command.Flags().StringVar(&f.severity, "severity", string(crdlint.Warning), "The lightest severity to report: `note|warning|error`.")
	completeWords(command, "output", f.output.formats...)
	completeWords(command, "severity", severityNames()...)
	return command
}

func severityNames() (names []string) {
	for _, s := range crdlint.Severities {
		names = append(names, string(s))
	}
	return names
}

// lintFinding is a finding with the name of the file that contains the definition.
type lintFinding struct {
	File string `json:"file"`
	crdlint.Finding
}

// lintCRDs prints the findings of all definitions. The exit code is 0 without findings, 1 with findings, 2 on errors.
func lintCRDs(ctx context.Context, f lintFlags, stdin io.Reader, stdout io.Writer) error {
	if err := f.output.check(); err != nil {
		return err
	}
	if !slices.Contains(severityNames(), f.severity) {
		return &usageError{fmt.Errorf("--severity: expected %s, received %q", joinOr(severityNames()), f.severity)}
	}
	found, err := f.findings(ctx, stdin)
	if err == nil {
		err = f.print(stdout, found)
	}
	switch {
	case err != nil:
		return &exitError{2, err}
	case len(found) > 0:
		return &exitError{code: 1}
	}
	return nil
}

func (f lintFlags) findings(ctx context.Context, stdin io.Reader) ([]lintFinding, error) {
	manifests, err := f.input.read(ctx, stdin)
	if err != nil {
		return nil, err
	}
	found := []lintFinding{} // not nil, so that JSON output is a list
	definitions := 0
	for _, m := range manifests {
		if m.doc.Get("kind").Text() != "CustomResourceDefinition" {
			continue
		}
		definitions++
		all, err := crdlint.Lint(m.doc)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", m.source, m.name(), err)
		}
		rejections, err := crdlint.Rejections(m.doc, all)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", m.source, m.name(), err)
		}
		for _, finding := range slices.Concat(rejections, all) {
			if finding.Severity.AtLeast(crdlint.Severity(f.severity)) {
				found = append(found, lintFinding{m.source, finding})
			}
		}
	}
	if definitions == 0 {
		return nil, errors.New("-f: expected at least one CustomResourceDefinition, received none")
	}
	return found, nil
}

func (f lintFlags) print(stdout io.Writer, found []lintFinding) error {
	if f.output.format == "json" {
		encoder := json.NewEncoder(stdout)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		return encoder.Encode(found)
	}
	for _, l := range found {
		if err := l.print(stdout); err != nil {
			return err
		}
	}
	return nil
}

// print prints a finding. Names in it are from the definition and may contain any characters.
func (l lintFinding) print(stdout io.Writer) error {
	about := []string{l.Definition}
	if l.Version != "" {
		about = append(about, l.Version)
	}
	field := l.Field
	switch {
	case l.Rule == "rejected":
		field = "the definition"
	case field == "":
		field = "the object"
	}
	for _, line := range []string{
		fmt.Sprintf("%s: %s: %s", l.File, strings.Join(about, " "), field),
		fmt.Sprintf("  %s (%s): %s", l.Severity, l.Rule, l.Reason),
		"  at " + l.Path,
		"  fix: " + l.Fix,
	} {
		if _, err := fmt.Fprintln(stdout, escapeUnprintable(line)); err != nil {
			return err
		}
	}
	return nil
}
