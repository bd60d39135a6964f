// Command cadastre runs a Kubernetes-compatible API server, and contains tools for Server-Side Apply that work with any API
// server.
package main

import (
	"os"

	"github.com/cadastre/cadastre/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr)) }
