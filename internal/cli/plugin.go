package cli

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// Plugin runs the kubectl plugin, such as kubectl own blame, and returns the exit code like Main. kubectl finds plugins by
// the name of their executable, kubectl-own.
func Plugin(args []string, stdout, stderr io.Writer) int {
	return run(plugin(), args, stdout, stderr)
}

const pluginName = "kubectl own"

// PluginArgs returns the arguments for Plugin from the arguments of the process. For shell completion, kubectl calls the
// executable kubectl_complete-own, which may be a link to kubectl-own.
func PluginArgs(process []string) []string {
	args := process[1:]
	if strings.HasPrefix(filepath.Base(process[0]), "kubectl_complete") {
		args = append([]string{cobra.ShellCompRequestCmd}, args...)
	}
	return args
}

func plugin() *cobra.Command {
	command := newCommand("kubectl-own", "Show and change which field managers own which fields")
	command.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: pluginName}
	command.AddCommand(releaseCommand(), transferCommand())
	command.AddCommand(objectCommands()...)
	for _, verb := range command.Commands() {
		nameExamples(verb)
	}
	describeHelp(command)
	return command
}

// nameExamples replaces the name of the program in the examples of command and its subcommands with the name of the
// plugin.
func nameExamples(command *cobra.Command) {
	examples := strings.ReplaceAll(command.Example, "cadastre own ", pluginName+" ")
	command.Example = strings.ReplaceAll(examples, "cadastre ", pluginName+" ")
	for _, verb := range command.Commands() {
		nameExamples(verb)
	}
}
