// Command migrate migrates many objects from client-side to server-side apply with "cadastre migrate", and prints the
// duration. A second run must write nothing. A further migration is interrupted twice, by killing first the client and
// then the server. Finally every object must have exactly one field manager and unchanged values.
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
	objects := flag.Int("objects", 100_000, "`number` of objects")
	program := flag.String("cadastre", "", "`path` of the cadastre binary; built from cmd/cadastre if empty")
	flag.Parse()
	if *objects < minObjects {
		log.Fatalf("-objects: expected %d or more, received %d", minObjects, *objects)
	}
	serverbench.Main("", func(ctx context.Context, folder string) error { return run(ctx, folder, *program, *objects) })
}

// minObjects is the minimum number of objects. After two thirds of the objects are migrated and a process is killed
// with eight writes in flight, some objects must remain to be migrated.
const minObjects = 60

// formerManager is the field manager of kubectl's client-side apply.
const formerManager = "kubectl-client-side-apply"

// run creates the objects and runs all migrations on one server, which is killed and restarted once.
func run(ctx context.Context, folder, program string, objects int) (err error) {
	if program == "" {
		if program, err = serverbench.BuildCadastre(ctx, folder); err != nil {
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
	r.row("created", time.Since(begin), "field manager "+formerManager)
	if r.before, err = takeSnapshot(ctx, r.server); err != nil {
		return err
	}
	if err := r.migrateAll(ctx); err != nil {
		return err
	}
	if err := r.migrateInterrupted(ctx); err != nil {
		return err
	}
	return r.check(ctx)
}
