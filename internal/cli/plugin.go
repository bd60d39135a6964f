package cli

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// Plugin runs the verbs about objects as a plugin of kubectl, which finds it by the name kubectl-own: kubectl own
// blame, kubectl own release. It returns the code to exit with, as Main does.
func Plugin(args []string, stdout, stderr io.Writer) int {
	return run(plugin(), args, stdout, stderr)
}

const pluginName = "kubectl own"

// PluginArgs are the arguments for Plugin of a process. Kubectl has a program kubectl_complete-own tell what the
// shell asks; that may be a link to kubectl-own.
func PluginArgs(process []string) []string {
	args := process[1:]
	if strings.HasPrefix(filepath.Base(process[0]), "kubectl_complete") {
		args = append([]string{cobra.ShellCompRequestCmd}, args...)
	}
	return args
}

func plugin() *cobra.Command {
	command := newCommand("kubectl-own", "Who owns which field of an object: show it, plan with it, change it")
	command.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: pluginName}
	command.AddCommand(releaseCommand(), transferCommand())
	command.AddCommand(objectCommands()...)
	for _, verb := range command.Commands() {
		nameExamples(verb)
	}
	return command
}

// nameExamples has examples use the name that the user has typed.
func nameExamples(command *cobra.Command) {
	examples := strings.ReplaceAll(command.Example, "cadastre own ", pluginName+" ")
	command.Example = strings.ReplaceAll(examples, "cadastre ", pluginName+" ")
	for _, verb := range command.Commands() {
		nameExamples(verb)
	}
}
