// Command differential sends random histories to the real kube-apiserver and to ours until the time is up, and
// writes a script for each sort of difference. Run it in the folder of this module, as `make differential` does.
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
	flag.DurationVar(&f.time, "time", time.Hour, "how long to search; while the process is stopped does not count")
	flag.Uint64Var(&f.seed, "seed", uint64(time.Now().Unix())<<16, "the `number` of the first history; the same number is the same history")
	flag.StringVar(&f.kubeconfig, "kubeconfig", "", "a kube-apiserver that runs already; otherwise one is started")
	flag.StringVar(&f.kind, "kind", "", "the `resource` that histories are about, such as deployments; any if it is left out")
	flag.BoolVar(&f.whole, "whole", false, "leave what differs as it was drawn, which is quicker than to make it small")
	flag.StringVar(&f.out, "out", filepath.Join(os.TempDir(), "differential"), "the `folder` to write scripts of differences to")
	flag.Parse()
	if err := search(f); err != nil {
		fmt.Fprintln(os.Stderr, "differential:", err)
		os.Exit(1)
	}
}

func search(f flags) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// Beside the real server no controllers run, and what is written has owners that do not exist.
	theirs, ours, stopBoth, err := target.StartBoth(ctx, f.kubeconfig, cadastretest.WithoutControllers())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopBoth()) }()
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return err
	}
	servers := differential.Servers{Theirs: theirs, Ours: ours}
	forget, err := servers.Define(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, forget(context.WithoutCancel(ctx))) }()
	fmt.Printf("seed %d\n", f.seed)
	progress, err := differential.Search(ctx, servers, differential.Options{
		Time: f.time, Seed: f.seed, Kind: f.kind, Whole: f.whole,
		Found: func(found differential.Finding) error { return write(f.out, found) },
		Lost: func(lost differential.Finding) {
			fmt.Printf("\nseed %d differed, and not again: %s\n", lost.History.Seed, lost.Signature())
		},
		Progress: func(p differential.Progress) {
			fmt.Fprintf(os.Stderr, "\r%s: %d histories, %d requests, %d differ in %d sorts ", p.Time.Round(time.Second), p.Histories, p.Requests, p.Differing, p.Sorts)
		},
	})
	summarize(progress)
	if err == nil && progress.Sorts > 0 {
		err = fmt.Errorf("%d sorts of differences; their scripts are in %s", progress.Sorts, f.out)
	}
	return err
}

// summarize tells what was done, and what was not, with the reasons.
func summarize(p differential.Progress) {
	fmt.Printf("\n%s running: %d histories with %d requests; %d differ in %d sorts, %d more differed once and not again; go on with -seed %d\n",
		p.Time.Round(time.Second), p.Histories, p.Requests, p.Differing, p.Sorts, p.Lost, p.Next)
	fmt.Printf("%d requests were compared\n", p.Compared)
	for reason, n := range mostFirst(p.Unusable) {
		fmt.Printf("%d histories could not be compared: %s\n", n, reason)
	}
	for title, n := range mostFirst(p.Known) {
		fmt.Printf("%d histories have a deliberate difference: %s\n", n, title)
	}
}

func mostFirst(counts map[string]int) iter.Seq2[string, int] {
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

// write leaves the script of a difference in the folder, and tells what differs.
func write(folder string, found differential.Finding) error {
	file := filepath.Join(folder, fmt.Sprintf("%d.txtar", found.History.Seed))
	fmt.Printf("\n%s\n%s\n%s\n", file, found.Signature(), found.Failure)
	return os.WriteFile(file, found.Script, 0o644)
}
