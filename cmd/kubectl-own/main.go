// Command kubectl-own is the kubectl plugin that contains those verbs of cadastre that work on objects, such as kubectl own
// blame and kubectl own release.
package main

import (
	"os"

	"github.com/cadastre/cadastre/internal/cli"
)

func main() { os.Exit(cli.Plugin(cli.PluginArgs(os.Args), os.Stdout, os.Stderr)) }
