// Command kubectl-own is the kubectl plugin with the verbs of cadastre for objects: kubectl own blame, kubectl own release.
package main

import (
	"os"

	"github.com/cadastre/cadastre/internal/cli"
)

func main() { os.Exit(cli.Plugin(cli.PluginArgs(os.Args), os.Stdout, os.Stderr)) }
