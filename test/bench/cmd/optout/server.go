package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cadastre/cadastre/test/bench/serverbench"
)

// Names of the sides in tables and findings.
var (
	oursName  = serverbench.Ours("").Name
	floorName = serverbench.Floor(serverbench.Sample{}).Name
	peerName  = serverbench.Peer.Name
)

// cborGate enables CBOR in kube-apiserver.
const cborGate = "--feature-gates=CBORServingAndStorage=true"

// startServers starts the selected sides and creates the objects of the cases. The floor returns the responses of the
// first real server.
func startServers(ctx context.Context, o options, cases []testCase) (all []serverbench.Contender, err error) {
	sides, missing, err := serverbench.FindSides(ctx, o.Sides, o.Program, o.Folder, serverbench.PeerWith(cborGate))
	switch {
	case err != nil:
		return nil, err
	case missing != nil:
		fmt.Printf("%v; kube-apiserver is not measured\n", missing)
	case sides.Peer != nil:
		fmt.Printf("peer: kube-apiserver %s with etcd, durable, %s\n", serverbench.PeerVersion, cborGate)
	}
	if all, err = serverbench.StartAll(ctx, o.Folder, sides.Real()...); err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, errors.New("-sides: expected ours or peer, because the floor has no objects of its own")
	}
	floor, err := prepareAll(ctx, o, cases, all)
	if err != nil {
		return nil, errors.Join(err, serverbench.StopAll(all))
	}
	return append(all, floor...), nil
}

// prepareAll creates the objects, and starts the floor if it is selected.
func prepareAll(ctx context.Context, o options, cases []testCase, all []serverbench.Contender) ([]serverbench.Contender, error) {
	var needed []serverbench.Managed
	for _, c := range cases {
		for _, objects := range []serverbench.Managed{c.objects(o), c.many()} {
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
	if !slices.Contains(o.Sides, serverbench.FloorFlag) {
		return nil, nil
	}
	sample := serverbench.MadeSample()
	for _, objects := range needed {
		for _, drop := range []bool{false, true} {
			format := serverbench.Format{Media: serverbench.JSON, Drop: drop}
			object, list, err := objects.Answers(ctx, all[0].Server, format)
			if err != nil {
				return nil, err
			}
			sample.Managed = append(sample.Managed, serverbench.ManagedSample{Managed: objects, Format: format, Object: object, List: list})
		}
	}
	return serverbench.StartAll(ctx, o.Folder, serverbench.Floor(sample))
}
