// Command kubectls compiles the releases of kubectl that its arguments name, or all known releases, from their Go
// modules. The first build takes minutes per release. Run it in the folder of this module, as `make kubectls` does.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/cadastre/cadastre/test/peers"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	releases := os.Args[1:]
	if len(releases) == 0 {
		releases = peers.Kubectls
	}
	if err := peers.BuildKubectls(ctx, releases); err != nil {
		fmt.Fprintln(os.Stderr, err)
		stop()
		os.Exit(1)
	}
}
