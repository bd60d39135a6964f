// Command build compiles etcd, kube-apiserver and kubectl from their modules. The first build takes about 20 minutes,
// later ones seconds. Run it in the folder of this module, as `make peers` does.
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
	if err := peers.Build(ctx, "binaries"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
