package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestExamples: every verb of the program and of the plugin has examples that start with its name and use existing
// flags.
func TestExamples(t *testing.T) {
	for _, program := range []func() *cobra.Command{root, plugin} {
		command := program()
		seen := 0
		checkExamples(t, program, command, &seen)
		if seen < 20 {
			t.Errorf("%s: saw only %d examples", command.DisplayName(), seen)
		}
	}
}

func checkExamples(t *testing.T, program func() *cobra.Command, command *cobra.Command, seen *int) {
	t.Helper()
	if command.Hidden {
		return // used by envtest only
	}
	if command.HasParent() && strings.TrimSpace(command.Example) == "" {
		t.Errorf("%s: its help has no examples", command.CommandPath())
	}
	for line := range strings.Lines(command.Example) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		*seen++
		_, words, found := strings.Cut(line, command.Root().DisplayName()+" ")
		args, _, _ := strings.Cut(words, " >")
		verb, rest, err := program().Find(strings.Fields(args))
		if err != nil || !found || !strings.HasPrefix(verb.CommandPath(), command.CommandPath()) {
			t.Errorf("%s: %q is of another command: %v", command.CommandPath(), line, err)
			continue
		}
		if err := verb.ParseFlags(rest); err != nil {
			t.Errorf("%s: %q: %v", command.CommandPath(), line, err)
		}
	}
	for _, verb := range command.Commands() {
		checkExamples(t, program, verb, seen)
	}
}
