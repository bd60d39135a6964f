package cli

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestExamples checks that every verb of the program and of the plugin has examples that start with the program's name and
// use existing flags.
func TestExamples(t *testing.T) {
	for _, program := range []func() *cobra.Command{Command, plugin} {
		command := program()
		seen := 0
		checkExamples(t, program, command, &seen)
		if seen < 20 {
			t.Errorf("%s: found %d examples, want at least 20", command.DisplayName(), seen)
		}
	}
}

func checkExamples(t *testing.T, program func() *cobra.Command, command *cobra.Command, seen *int) {
	t.Helper()
	if command.Hidden {
		return // hidden commands are called by envtest only
	}
	if command.HasParent() && strings.TrimSpace(command.Example) == "" {
		t.Errorf("%s: the help has no examples", command.CommandPath())
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
			t.Errorf("%s: example %q runs another command, or none: %v", command.CommandPath(), line, err)
			continue
		}
		if err := verb.ParseFlags(rest); err != nil {
			t.Errorf("%s: example %q has invalid flags: %v", command.CommandPath(), line, err)
		}
	}
	for _, verb := range command.Commands() {
		checkExamples(t, program, verb, seen)
	}
}

// TestHelpSentences checks that the short help of every command starts with a capital letter and has no period, and that the
// long help and the help of every flag are sentences. Commands and flags of cobra and client-go are exempt.
func TestHelpSentences(t *testing.T) {
	for _, command := range []*cobra.Command{Command(), plugin()} {
		checkSentences(t, command)
	}
}

func checkSentences(t *testing.T, command *cobra.Command) {
	t.Helper()
	if command.Name() == "completion" || command.Name() == "help" {
		return
	}
	path := command.CommandPath()
	if !startsUpper(command.Short) || strings.HasSuffix(command.Short, ".") {
		t.Errorf("%s: the short help %q does not start with a capital letter, or ends with a period", path, command.Short)
	}
	if command.Long != "" && (!startsUpper(command.Long) || !strings.HasSuffix(command.Long, ".")) {
		t.Errorf("%s: the long help is not a sentence: %q", path, command.Long)
	}
	command.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && (!startsUpper(f.Usage) || !strings.HasSuffix(f.Usage, ".")) {
			t.Errorf("%s --%s: the help is not a sentence: %q", path, f.Name, f.Usage)
		}
	})
	for _, verb := range command.Commands() {
		checkSentences(t, verb)
	}
}

func startsUpper(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	return unicode.IsUpper(first)
}
