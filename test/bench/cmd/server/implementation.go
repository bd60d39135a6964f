package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cadastre/cadastre/test/bench/serverbench"
)

// prepareImplementations builds Cadastre, and checks whether the binaries of kube-apiserver and etcd exist. If they do
// not, it prints that reference figures are used.
func (o options) prepareImplementations(ctx context.Context) (serverbench.Implementations, error) {
	s, missing, err := serverbench.FindImplementations(ctx, o.Implementations, o.Program, o.Folder, serverbench.KubeAPIServer)
	switch {
	case missing != nil:
		fmt.Printf("%v; figures in brackets were measured on another machine\n", missing)
	case s.KubeAPIServer != nil:
		fmt.Printf("kube-apiserver: version %s with etcd, durable\n", serverbench.KubernetesVersion)
	}
	return s, err
}

// startAll starts the selected servers: Cadastre, the lower bound, kube-apiserver. The lower bound returns responses
// that it read from the first API server.
func startAll(ctx context.Context, o options, s serverbench.Implementations) (all []serverbench.RunningServer, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, serverbench.StopAll(all))
			all = nil
		}
	}()
	if all, err = serverbench.StartAll(ctx, o.Folder, s.APIServers()...); err != nil || !slices.Contains(o.Implementations, serverbench.LowerBoundFlag) {
		return all, err
	}
	sample := serverbench.SyntheticSample()
	if len(all) > 0 {
		list := serverbench.Cases[0]
		if err := list.Prepare(ctx, all[0].Server, o.Load.Clients); err != nil {
			return all, err
		}
		if sample, err = serverbench.TakeSample(ctx, all[0].Server); err != nil {
			return all, err
		}
	}
	lowerBound, err := serverbench.StartAll(ctx, o.Folder, serverbench.LowerBound(sample))
	if err != nil {
		return all, err
	}
	position := 0
	if s.Cadastre != nil {
		position = 1 // the lower bound comes after Cadastre
	}
	return slices.Insert(all, position, lowerBound...), nil
}
