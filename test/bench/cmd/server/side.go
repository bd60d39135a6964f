package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cadastre/cadastre/test/bench/serverbench"
)

// prepareSides builds our server and checks whether the peer is built.
func (o options) prepareSides(ctx context.Context) (serverbench.Sides, error) {
	s, missing, err := serverbench.FindSides(ctx, o.Sides, o.Program, o.Folder, serverbench.Peer)
	switch {
	case missing != nil:
		fmt.Printf("%v; figures in brackets were measured on another machine\n", missing)
	case s.Peer != nil:
		fmt.Printf("peer: kube-apiserver %s with etcd, durable\n", serverbench.PeerVersion)
	}
	return s, err
}

// startAll starts the servers for requests: ours, the floor, the peer. The floor returns the responses of the first
// real server.
func startAll(ctx context.Context, o options, s serverbench.Sides) (all []serverbench.Contender, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, serverbench.StopAll(all))
			all = nil
		}
	}()
	if all, err = serverbench.StartAll(ctx, o.Folder, s.Real()...); err != nil || !slices.Contains(o.Sides, serverbench.FloorFlag) {
		return all, err
	}
	sample := serverbench.MadeSample()
	if len(all) > 0 {
		list := serverbench.Cases[0]
		if err := list.Prepare(ctx, all[0].Server, o.Load.Clients); err != nil {
			return all, err
		}
		if sample, err = serverbench.TakeSample(ctx, all[0].Server); err != nil {
			return all, err
		}
	}
	floor, err := serverbench.StartAll(ctx, o.Folder, serverbench.Floor(sample))
	if err != nil {
		return all, err
	}
	objectKey := 0
	if s.Ours != nil {
		objectKey = 1 // the floor is second
	}
	return slices.Insert(all, objectKey, floor...), nil
}
