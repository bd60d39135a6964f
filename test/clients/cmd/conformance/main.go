// Command conformance runs the behaviour scripts of applytest against kube-apiserver and against Cadastre, prints the
// differences, and writes docs/conformance.md. Run it in the folder of this module, as `make conformance` does.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"

	"k8s.io/client-go/rest"

	"github.com/cadastre/cadastre/applytest"
	"github.com/cadastre/cadastre/test/clients/target"
)

// parallel is the number of scripts that run concurrently. It exceeds the number of CPUs because many scripts wait.
const parallel = 16

type flags struct {
	run, scripts, document, kubeconfig string
	record                             bool
}

func main() {
	var f flags
	flag.StringVar(&f.run, "run", "", "run only scripts whose name matches the `expression`, and write no document")
	flag.StringVar(&f.scripts, "scripts", "../../applytest/scripts", "`folder` of the scripts")
	flag.StringVar(&f.document, "document", "../../docs/conformance.md", "`file` to write the document to")
	flag.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig `file` of a running kube-apiserver; if empty, one is started")
	flag.BoolVar(&f.record, "record", false, "first record the responses of kube-apiserver in scripts whose expectations differ or are missing")
	flag.Parse()
	if err := conform(f); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

func conform(f flags) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	run, err := regexp.Compile(f.run)
	if err != nil {
		return err
	}
	kubeAPIServer, cadastre, stopBoth, err := target.StartBoth(ctx, f.kubeconfig)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopBoth()) }()

	if f.record {
		if err := record(ctx, f.scripts, run, kubeAPIServer, cadastre); err != nil {
			return err
		}
	}
	c := comparison{}
	if c.kubeAPIServer, err = check(ctx, kubeAPIServerName, os.DirFS(f.scripts), run, kubeAPIServer); err != nil {
		return err
	}
	if c.cadastre, err = check(ctx, cadastreName, os.DirFS(f.scripts), run, cadastre); err != nil {
		return err
	}
	c.print(os.Stdout)
	if f.run == "" {
		if err := os.WriteFile(f.document, c.document(), 0o644); err != nil {
			return err
		}
	}
	if n := c.kubeAPIServer.Count(applytest.Fail) + c.cadastre.Count(applytest.Fail); n > 0 {
		return fmt.Errorf("%d scripts failed", n)
	}
	if n := len(c.kubeAPIServer.Leftovers) + len(c.cadastre.Leftovers); n > 0 {
		return fmt.Errorf("%d objects could not be removed", n)
	}
	return nil
}

// record records the responses of kube-apiserver in the scripts, and then those of Cadastre in the scripts that only
// Cadastre runs.
func record(ctx context.Context, folder string, run *regexp.Regexp, servers ...*rest.Config) error {
	for _, config := range servers {
		_, err := applytest.Run(ctx, applytest.Options{
			Config: config, Scripts: os.DirFS(folder), Run: run, Parallel: parallel,
			Record: func(name string, text []byte) error {
				fmt.Println("recorded", name)
				return os.WriteFile(filepath.Join(folder, filepath.FromSlash(name)+".txtar"), text, 0o644)
			},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func check(ctx context.Context, name string, scripts fs.FS, run *regexp.Regexp, config *rest.Config) (*applytest.Report, error) {
	return applytest.Run(ctx, applytest.Options{
		Config: config, Scripts: scripts, Run: run, Parallel: parallel,
		Progress: func(done, total int, _ applytest.Result) { fmt.Fprintf(os.Stderr, "\r%s %d/%d ", name, done, total) },
	})
}
