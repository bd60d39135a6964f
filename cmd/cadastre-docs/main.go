// Command cadastre-docs writes the man pages, the Markdown reference and the shell completion scripts of the command
// cadastre.
package main

import (
	"os"

	"github.com/cadastre/cadastre/internal/cli/reference"
)

func main() { os.Exit(reference.Main(os.Args[1:], os.Stderr)) }
