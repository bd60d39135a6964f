// Command build compiles etcd, kube-apiserver and kubectl, or the programs that its arguments name, from their Go modules. The
// first build takes about 20 minutes, later builds take seconds. Run it in the folder of this module, as `make peers` does.
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
