package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cadastre/cadastre/bench/serverbench"
)

// The sides, as flags name them.
const (
	oursSide  = "ours"
	floorSide = "floor"
	peerSide  = "peer"
)

// sides are those that take part and are real servers; either may be nil.
type sides struct{ ours, peer *serverbench.Side }

// prepareSides builds our server and finds out whether the peer is there.
func (o options) prepareSides(ctx context.Context) (s sides, err error) {
	if slices.Contains(o.sides, oursSide) {
		program := o.program
		if program == "" {
			if program, err = serverbench.BuildOurs(ctx, o.folder); err != nil {
				return sides{}, err
			}
		}
		side := serverbench.Ours(program)
		s.ours = &side
	}
	if !slices.Contains(o.sides, peerSide) {
		return s, nil
	}
	if err := serverbench.PeerBuilt(); errors.Is(err, serverbench.ErrNoPeer) {
		fmt.Printf("%v; figures in brackets are those of the issue, from another machine\n", err)
	} else if err != nil {
		return sides{}, err
	} else {
		fmt.Printf("peer: kube-apiserver %s with etcd, durable\n", serverbench.PeerVersion)
		s.peer = &serverbench.Peer
	}
	return s, nil
}

// real are the sides that keep objects, ours first.
func (s sides) real() (all []serverbench.Side) {
	for _, side := range []*serverbench.Side{s.ours, s.peer} {
		if side != nil {
			all = append(all, *side)
		}
	}
	return all
}

// A contender is a side whose server runs.
type contender struct {
	name   string
	server *serverbench.Server
}

// startAll starts the servers for requests: ours, the floor, the peer. The floor answers what the first real
// server answers.
func startAll(ctx context.Context, o options, s sides) (all []contender, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, stopAll(all))
			all = nil
		}
	}()
	start := func(side serverbench.Side) error {
		server, err := side.Start(ctx, o.folder+"/"+side.Name)
		if err == nil {
			all = append(all, contender{side.Name, server})
		}
		return err
	}
	for _, side := range s.real() {
		if err := start(side); err != nil {
			return all, err
		}
	}
	if !slices.Contains(o.sides, floorSide) {
		return all, nil
	}
	sample := serverbench.MadeSample()
	if len(all) > 0 {
		list := serverbench.Cases[0]
		if err := list.Prepare(ctx, all[0].server, o.load.Clients); err != nil {
			return all, err
		}
		if sample, err = serverbench.TakeSample(ctx, all[0].server); err != nil {
			return all, err
		}
	}
	if err := start(serverbench.Floor(sample)); err != nil {
		return all, err
	}
	if s.ours != nil && len(all) == 3 { // the floor comes second
		all[1], all[2] = all[2], all[1]
	}
	return all, nil
}

func stopAll(all []contender) error {
	var errs []error
	for _, c := range all {
		errs = append(errs, c.server.Stop())
	}
	return errors.Join(errs...)
}
