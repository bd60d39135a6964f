// Command migrate has many objects go from client-side to server-side apply with "cadastre migrate", and tells how
// long that takes. It does so again, which must write nothing; and once more with the client and then the server killed
// half-way. In the end every object must have the one new owner, and the values that it had.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"path/filepath"
	"runtime"
	"time"

	"github.com/cadastre/cadastre/test/bench/serverbench"
)

func main() {
	log.SetFlags(0)
	objects := flag.Int("objects", 100_000, "objects that are migrated")
	program := flag.String("server", "", "program of our server and command line; the default is to build cmd/cadastre")
	flag.Parse()
	if *objects < fewest {
		log.Fatalf("-objects: expected %d or more, received %d", fewest, *objects)
	}
	serverbench.Main("", func(ctx context.Context, folder string) error { return run(ctx, folder, *program, *objects) })
}

// fewest is how many objects it takes: some must be left after two thirds, and after what is under way when something is
// killed, eight at a time.
const fewest = 60

// formerManager is whom client-side apply of kubectl is known as.
const formerManager = "kubectl-client-side-apply"

// run does all of it on one server, which is killed once.
func run(ctx context.Context, folder, program string, objects int) (err error) {
	if program == "" {
		if program, err = serverbench.BuildOurs(ctx, folder); err != nil {
			return err
		}
	}
	r := &migration{program: program, folder: filepath.Join(folder, "server"), objects: objects}
	if err := r.start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.server.Stop()) }()
	fmt.Printf("%s %s/%s, %d cores; %d Deployments of two containers\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), objects)
	fmt.Printf(rowFormat, "step", "time", "a second", "outcome")
	begin := time.Now()
	if err := (serverbench.Fleet{Objects: objects}).FillAs(ctx, r.server, formerManager); err != nil {
		return err
	}
	r.row("made", time.Since(begin), "by "+formerManager)
	if r.before, err = look(ctx, r.server); err != nil {
		return err
	}
	if err := r.whole(ctx); err != nil {
		return err
	}
	if err := r.interrupted(ctx); err != nil {
		return err
	}
	return r.check(ctx)
}
