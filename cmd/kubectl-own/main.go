// Command kubectl-own is the command line about owners of fields, as a plugin of kubectl.
package main

import (
	"os"

	"github.com/cadastre/cadastre/internal/cli"
)

func main() { os.Exit(cli.Plugin(cli.PluginArgs(os.Args), os.Stdout, os.Stderr)) }
