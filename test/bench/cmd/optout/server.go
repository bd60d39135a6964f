package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cadastre/cadastre/test/bench/serverbench"
)

// Names of the servers in tables and findings.
var (
	cadastreName      = serverbench.Cadastre("").Name
	lowerBoundName    = serverbench.LowerBound(serverbench.Sample{}).Name
	kubeAPIServerName = serverbench.KubeAPIServer.Name
)

// cborGate is the argument that enables CBOR in kube-apiserver.
const cborGate = "--feature-gates=CBORServingAndStorage=true"

// startServers starts the selected servers and creates the objects of the cases. The lower bound returns the responses
// that it read from the first API server.
func startServers(ctx context.Context, o options, cases []testCase) (all []serverbench.RunningServer, err error) {
	implementations, missing, err := serverbench.FindImplementations(ctx, o.Implementations, o.Program, o.Folder, serverbench.KubeAPIServerWith(cborGate))
	switch {
	case err != nil:
		return nil, err
	case missing != nil:
		fmt.Printf("%v; kube-apiserver is not measured\n", missing)
	case implementations.KubeAPIServer != nil:
		fmt.Printf("kube-apiserver: version %s with etcd, durable, %s\n", serverbench.KubernetesVersion, cborGate)
	}
	if all, err = serverbench.StartAll(ctx, o.Folder, implementations.APIServers()...); err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, errors.New("-servers: expected cadastre or kube-apiserver, because lower-bound returns the objects of one of them")
	}
	lowerBound, err := prepareAll(ctx, o, cases, all)
	if err != nil {
		return nil, errors.Join(err, serverbench.StopAll(all))
	}
	return append(all, lowerBound...), nil
}

// prepareAll creates the objects of the cases on all servers, and starts the lower bound if it is selected.
func prepareAll(ctx context.Context, o options, cases []testCase, all []serverbench.RunningServer) ([]serverbench.RunningServer, error) {
	var needed []serverbench.ManagedObjects
	for _, c := range cases {
		for _, objects := range []serverbench.ManagedObjects{c.objects(o), c.listedObjects()} {
			if !slices.Contains(needed, objects) && (c.watchers <= 1 || objects == c.objects(o)) {
				needed = append(needed, objects)
			}
		}
	}
	for _, objects := range needed {
		for _, s := range all {
			if err := objects.Prepare(ctx, s.Server); err != nil {
				return nil, fmt.Errorf("%s: %w", s.Name, err)
			}
		}
	}
	if !slices.Contains(o.Implementations, serverbench.LowerBoundFlag) {
		return nil, nil
	}
	sample := serverbench.SyntheticSample()
	for _, objects := range needed {
		for _, drop := range []bool{false, true} {
			format := serverbench.Format{Media: serverbench.JSON, Drop: drop}
			object, list, err := objects.Responses(ctx, all[0].Server, format)
			if err != nil {
				return nil, err
			}
			sample.ManagedObjects = append(sample.ManagedObjects, serverbench.ManagedSample{ManagedObjects: objects, Format: format, Object: object, List: list})
		}
	}
	return serverbench.StartAll(ctx, o.Folder, serverbench.LowerBound(sample))
}
