// Command build compiles etcd, kube-apiserver and kubectl from their modules, or the programs that its arguments name. It takes
// some twenty minutes the first time and seconds after that. Run it in the folder of this module: `make peers` does.
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
	programs := os.Args[1:]
	if len(programs) == 0 {
		programs = peers.Usual
	}
	if err := peers.Build(ctx, "binaries", programs...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
