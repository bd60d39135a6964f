// Command cadastre is a Kubernetes-compatible API server with tools for Server-Side Apply.
package main

import (
	"os"

	"github.com/cadastre/cadastre/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr)) }
