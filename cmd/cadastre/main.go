// Command cadastre is a Kubernetes-compatible API server and the tools around Server-Side Apply.
package main

import (
	"os"

	"github.com/cadastre/cadastre/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr)) }
