// Command cadastre-docs writes man pages, a Markdown reference and completion scripts of cadastre.
package main

import (
	"os"

	"github.com/cadastre/cadastre/internal/cli/reference"
)

func main() { os.Exit(reference.Main(os.Args[1:], os.Stderr)) }
