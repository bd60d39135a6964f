// Command material sends the same requests with the CRDs and sample objects of well-known projects to kube-apiserver
// and to Cadastre, prints the differences between the responses, and records the responses of kube-apiserver in
// testdata. Run it in the folder of this module, as `make oracle-material` does.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"

	"github.com/rogpeppe/go-internal/diff"
	"k8s.io/client-go/rest"

	"github.com/cadastre/cadastre/test/clients/material"
	"github.com/cadastre/cadastre/test/clients/target"
	"github.com/cadastre/cadastre/test/peers"
)

type flags struct {
	run, folder string
}

func main() {
	var f flags
	flag.StringVar(&f.run, "run", "", "compare only projects whose name matches the `expression`")
	flag.StringVar(&f.folder, "records", "material/testdata", "`folder` to write the records of kube-apiserver to")
	flag.Parse()
	if err := compare(f); err != nil {
		fmt.Fprintln(os.Stderr, "material:", err)
		os.Exit(1)
	}
}

func compare(f flags) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	run, err := regexp.Compile(f.run)
	if err != nil {
		return err
	}
	kubeAPIServer, cadastre, stopBoth, err := target.StartBoth(ctx, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopBoth()) }()
	different := 0
	for _, project := range material.Projects {
		if !run.MatchString(project.Name) {
			continue
		}
		n, err := compareProject(ctx, f, project, kubeAPIServer, cadastre)
		if err != nil {
			return fmt.Errorf("%s: %w", project.Name, err)
		}
		different += n
	}
	if different > 0 {
		return fmt.Errorf("%d observations of Cadastre differ from those of kube-apiserver", different)
	}
	return nil
}

// compareProject compares the responses of both servers to the CRDs and samples of project, records the observations of
// kube-apiserver, and returns the number of observations that differ.
func compareProject(ctx context.Context, f flags, project material.Project, kubeAPIServer, cadastre *rest.Config) (different int, err error) {
	files, err := project.Fetch(ctx)
	if err != nil {
		return 0, err
	}
	manifest, err := project.Read(files)
	if err != nil {
		return 0, err
	}
	asTheirs, err := observe(ctx, kubeAPIServer, manifest)
	if err != nil {
		return 0, fmt.Errorf("kube-apiserver: %w", err)
	}
	if err := os.WriteFile(filepath.Join(f.folder, project.Name+".txt"), material.Record(project, asTheirs), 0o644); err != nil {
		return 0, err
	}
	asOurs, err := observe(ctx, cadastre, manifest)
	if err != nil {
		return 0, fmt.Errorf("cadastre: %w", err)
	}
	different = printDifferences(asTheirs, asOurs)
	fmt.Printf("%s: %d definitions, %d samples, %d observations, %d differ\n",
		project.Name, len(manifest.Definitions), len(manifest.Samples), len(asTheirs), different)
	return different, nil
}

// observe sends the requests of manifest to the server of config, some of them with the kubectl that package peers
// builds, and returns the observations.
func observe(ctx context.Context, config *rest.Config, manifest *material.Manifest) ([]material.Observation, error) {
	kubectl, err := peers.Program(peers.Kubectl)
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "material-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	config = rest.CopyConfig(config)
	config.QPS = -1
	server := &material.Server{Config: config, Kubectl: kubectl, Namespace: "default", Folder: folder}
	return server.Observe(ctx, manifest)
}

// printDifferences prints the observations that differ, and returns their number.
func printDifferences(kubeAPIServer, cadastre []material.Observation) (different int) {
	byName := map[string]material.Observation{}
	for _, o := range cadastre {
		byName[o.Name] = o
	}
	for _, t := range kubeAPIServer {
		o := byName[t.Name]
		if o.Compared() == t.Compared() && (o.Again == t.Again || o.Again == material.Unchanged) {
			continue
		}
		different++
		fmt.Printf("%s\n  kube-apiserver: %s %s\n  ours: %s %s\n%s\n", t.Name, t.Outcome, t.Again, o.Outcome, o.Again,
			diff.Diff("kube-apiserver", []byte(t.Text), "ours", []byte(o.Text)))
	}
	return different
}
