// Package reference writes documents that are generated from the help texts of the command line: man pages, a Markdown
// reference and completion scripts. It is a package of its own because the generator initializes a Markdown parser,
// which would delay the start of every cadastre process.
package reference

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/cadastre/cadastre/internal/cli"
)

// usage is printed if the arguments are invalid.
const usage = `usage: cadastre-docs man|markdown|completion FOLDER
  man         write a man page per command
  markdown    write a Markdown page per command
  completion  write the completion scripts of bash, zsh, fish and powershell
`

// generators maps each kind of document to the function that writes the documents of command to folder.
var generators = map[string]func(command *cobra.Command, folder string) error{
	"man": func(command *cobra.Command, folder string) error {
		return doc.GenManTree(command, manHeader(), folder)
	},
	"markdown": doc.GenMarkdownTree,
	"completion": func(command *cobra.Command, folder string) error {
		name := command.Name()
		return errors.Join(
			command.GenBashCompletionFileV2(filepath.Join(folder, name+".bash"), true),
			command.GenZshCompletionFile(filepath.Join(folder, "_"+name)),
			command.GenFishCompletionFile(filepath.Join(folder, name+".fish"), true),
			command.GenPowerShellCompletionFileWithDesc(filepath.Join(folder, name+".ps1")),
		)
	},
}

// Main writes the documents that args (a kind of document and a folder) select. It returns the exit code: 0 for
// success, 1 for failure, 2 for a usage error.
func Main(args []string, stderr io.Writer) int {
	if len(args) != 2 || generators[args[0]] == nil {
		fmt.Fprint(stderr, usage)
		return 2
	}
	if err := write(args[0], args[1]); err != nil {
		fmt.Fprintf(stderr, "cadastre-docs: %v\n", err)
		return 1
	}
	return 0
}

func write(kind, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	command := cli.Command()
	command.DisableAutoGenTag = true
	for _, verb := range command.Commands() {
		if f := verb.Flags().Lookup("data"); f != nil {
			f.DefValue = "~/.local/share/cadastre" // the default, independent of the user who generates the documents
		}
	}
	return generators[kind](command, folder)
}

// manHeader returns the header of man pages. Its date is that of the release, so that the output is reproducible.
func manHeader() *doc.GenManHeader {
	date, err := time.Parse(time.RFC3339, cli.Date)
	if err != nil {
		date = time.Unix(0, 0).UTC()
	}
	return &doc.GenManHeader{Section: "1", Source: "Cadastre " + cli.Version, Manual: "Cadastre Manual", Date: &date}
}
