// Command optout measures the benefit of omitting managedFields from responses: bytes, CPU time and memory of the
// server, and allocations of clients, for get, list and watch. It compares Cadastre, kube-apiserver, which always sends
// managedFields, and a lower bound: a minimal Go HTTPS server that transfers the same bytes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/cadastre/cadastre/test/bench/serverbench"
	"github.com/cadastre/cadastre/test/bench/stat"
)

// options are the flags of the command.
type options = serverbench.Options

func main() {
	serverbench.ServeIfLowerBound()
	log.SetFlags(0)
	// client-go reads the feature gate when the first client is created.
	if err := os.Setenv("KUBE_FEATURE_ClientsAllowCBOR", "true"); err != nil {
		log.Fatal(err)
	}
	cpu := flag.Duration("cpu", 500*time.Millisecond, "minimum CPU time of the server per turn; turns are extended to reach it")
	o, err := serverbench.ParseFlags(flag.CommandLine, os.Args[1:], serverbench.Defaults{
		Cases:  "get/json/8, list/cbor/3 or watch/100/1; the last number is the number of field managers",
		Window: time.Second, Implementations: serverbench.AllFlags,
	})
	if err != nil {
		log.Fatal(err)
	}
	o.Load.CPU = *cpu
	serverbench.Main(o.Folder, func(ctx context.Context, folder string) error {
		o.Folder = folder
		return compare(ctx, o)
	})
}

func compare(ctx context.Context, o options) (err error) {
	fmt.Println(o.Title())
	cases := selectedCases(o)
	if len(cases) == 0 {
		return fmt.Errorf("no case matches %v", o.Selected)
	}
	servers, err := startServers(ctx, o, cases)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, serverbench.StopAll(servers)) }()
	var found []stat.Finding
	printHeader()
	for _, c := range cases {
		r, err := c.compare(ctx, o, servers)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name(), err)
		}
		r.print()
		found = append(found, r.findings()...)
	}
	fmt.Print(footnotes)
	stat.PrintGoals(goals(cases), found)
	return nil
}
