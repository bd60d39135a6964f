// Command differential sends random histories (sequences of write requests) to kube-apiserver and to Cadastre for a
// given time, and writes a script for each kind of difference between their responses. Run it in the folder of this
// module, as `make differential` does.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/cadastre/cadastre/cadastretest"
	"github.com/cadastre/cadastre/test/clients/differential"
	"github.com/cadastre/cadastre/test/clients/target"
)

type flags struct {
	time            time.Duration
	seed            uint64
	kubeconfig, out string
	kind            string
	whole           bool
}

func main() {
	var f flags
	flag.DurationVar(&f.time, "time", time.Hour, "duration of the search; time during which the process is stopped is not counted")
	flag.Uint64Var(&f.seed, "seed", uint64(time.Now().Unix())<<16, "`seed` of the first history; histories are deterministic")
	flag.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig `file` of a running kube-apiserver; if empty, one is started")
	flag.StringVar(&f.kind, "kind", "", "`resource` of the histories, such as deployments; if empty, all")
	flag.BoolVar(&f.whole, "whole", false, "do not shrink histories that differ, which is faster")
	flag.StringVar(&f.out, "out", filepath.Join(os.TempDir(), "differential"), "`folder` to write scripts of differences to")
	flag.Parse()
	if err := search(f); err != nil {
		fmt.Fprintln(os.Stderr, "differential:", err)
		os.Exit(1)
	}
}

func search(f flags) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// Run both servers without controllers, because the objects have ownerReferences to objects that do not exist: a
	// garbage collector would delete them.
	kubeAPIServer, cadastre, stopBoth, err := target.StartBoth(ctx, f.kubeconfig, cadastretest.WithoutControllers())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopBoth()) }()
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return err
	}
	servers := differential.Servers{KubeAPIServer: kubeAPIServer, Cadastre: cadastre}
	forget, err := servers.Define(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, forget(context.WithoutCancel(ctx))) }()
	fmt.Printf("seed %d\n", f.seed)
	progress, err := differential.Search(ctx, servers, differential.Options{
		Time: f.time, Seed: f.seed, Kind: f.kind, NoShrink: f.whole,
		Found: func(found differential.Finding) error { return write(f.out, found) },
		Lost: func(lost differential.Finding) {
			fmt.Printf("\nseed %d: difference was not reproducible: %s\n", lost.History.Seed, lost.Signature())
		},
		Progress: func(p differential.Progress) {
			fmt.Fprintf(os.Stderr, "\r%s: %d histories, %d requests, %d differences of %d kinds ", p.Time.Round(time.Second), p.Histories, p.Requests, p.Differing, p.Kinds)
		},
	})
	summarize(progress)
	if err == nil && progress.Kinds > 0 {
		err = fmt.Errorf("%d kinds of differences; their scripts are in %s", progress.Kinds, f.out)
	}
	return err
}

// summarize prints the number of histories that were compared, and the number of histories that were not, by reason.
func summarize(p differential.Progress) {
	fmt.Printf("\n%s running: %d histories with %d requests; %d differences of %d kinds, %d more were not reproducible; continue with -seed %d\n",
		p.Time.Round(time.Second), p.Histories, p.Requests, p.Differing, p.Kinds, p.Lost, p.Next)
	fmt.Printf("%d requests were compared\n", p.Compared)
	for reason, n := range byCount(p.Unusable) {
		fmt.Printf("%d histories could not be compared: %s\n", n, reason)
	}
	for title, n := range byCount(p.Known) {
		fmt.Printf("%d histories have a deliberate difference: %s\n", n, title)
	}
}

func byCount(counts map[string]int) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for _, what := range slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
			return cmp.Or(counts[b]-counts[a], strings.Compare(a, b))
		}) {
			if !yield(what, counts[what]) {
				return
			}
		}
	}
}

// write writes the script of found to a file in folder, and prints the difference.
func write(folder string, found differential.Finding) error {
	file := filepath.Join(folder, fmt.Sprintf("%d.txtar", found.History.Seed))
	fmt.Printf("\n%s\n%s\n%s\n", file, found.Signature(), found.Failure)
	return os.WriteFile(file, found.Script, 0o644)
}
