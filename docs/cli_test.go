package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cadastre/cadastre/internal/cli"
)

// cliSections are the headings that every page in docs/cli has, in this order. Further headings may be between them.
var cliSections = []string{"## Synopsis", "## Example", "## Flags", "## Exit codes", "## Errors", "## See also"}

// flagInCode matches a flag in inline code: `--force`, `-f`.
var flagInCode = regexp.MustCompile("`(--?[a-zA-Z][-a-z]*)")

// TestCLIPages checks that docs/cli contains one page for each verb of the command line and no further pages. Each page must have
// all sections of cliSections, a transcript, and the usage line of each command, and must list only flags of the verb.
func TestCLIPages(t *testing.T) {
	command := cli.Command()
	command.InitDefaultHelpCmd()
	index := readPage(t, "cli/README.md")
	expected := []string{"cli/README.md"}
	for _, verb := range command.Commands() {
		if verb.Hidden {
			continue
		}
		name := "cli/" + verb.Name() + ".md"
		expected = append(expected, name)
		if !strings.Contains(index, "[`"+verb.Name()+"`]("+verb.Name()+".md)") {
			t.Errorf("cli/README.md: the table has no row for %s", verb.Name())
		}
		t.Run(verb.Name(), func(t *testing.T) { checkCLIPage(t, name, verb) })
	}
	pages, err := filepath.Glob("cli/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range pages {
		if !slices.Contains(expected, name) {
			t.Errorf("%s: cadastre has no verb of this name; remove the page", name)
		}
	}
}

// checkCLIPage checks the named page in docs/cli, which describes verb; see TestCLIPages.
func checkCLIPage(t *testing.T, name string, verb *cobra.Command) {
	text := readPage(t, name)
	if !strings.HasPrefix(text, "# cadastre "+verb.Name()+"\n\n") {
		t.Errorf("%s: expected the heading # cadastre %s", name, verb.Name())
	}
	if !strings.Contains(text, "```console\n$ ") {
		t.Errorf("%s: expected a transcript", name)
	}
	at := 0
	for _, section := range cliSections {
		found := strings.Index(text[at:], "\n"+section+"\n")
		if found < 0 {
			t.Fatalf("%s: expected the section %q after %q", name, section, text[at:at+min(20, len(text)-at)])
		}
		at += found + 1
	}
	known := map[string]bool{}
	for _, c := range commandsOf(verb) {
		if usage := synopsis(c); !strings.Contains(text, usage+"\n") {
			t.Errorf("%s: the synopsis has no line %q", name, usage)
		}
		for _, flag := range flagsOf(c) {
			known[flag] = true
		}
	}
	_, flags, _ := strings.Cut(text, "\n## Flags\n")
	flags, _, _ = strings.Cut(flags, "\n## ")
	for _, found := range flagInCode.FindAllStringSubmatch(flags, -1) {
		if !known[found[1]] {
			t.Errorf("%s: %s has no flag %s", name, verb.CommandPath(), found[1])
		}
	}
}

// commandsOf returns the subcommands of a verb that are not hidden, or the verb itself if there are none.
func commandsOf(verb *cobra.Command) []*cobra.Command {
	var commands []*cobra.Command
	for _, c := range verb.Commands() {
		if !c.Hidden {
			commands = append(commands, c)
		}
	}
	if len(commands) == 0 {
		return []*cobra.Command{verb}
	}
	return commands
}

// synopsis returns the usage line of a command, which ends in [flags].
func synopsis(c *cobra.Command) string {
	return strings.TrimSuffix(c.UseLine(), " [flags]") + " [flags]"
}

// flagsOf returns the flags of a command with their dashes, including shorthands.
func flagsOf(c *cobra.Command) []string {
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		names = append(names, "--"+f.Name)
		if f.Shorthand != "" {
			names = append(names, "-"+f.Shorthand)
		}
	})
	return names
}

// readPage returns the content of the named file in docs.
func readPage(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
