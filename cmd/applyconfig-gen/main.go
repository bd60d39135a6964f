// Command applyconfig-gen generates apply configurations with Unset functions. See docs/applyconfig.md.
package main

import (
	"context"
	"os"

	"github.com/cadastre/cadastre/internal/applyconfiggen"
)

func main() {
	os.Exit(applyconfiggen.Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}
