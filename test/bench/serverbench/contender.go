package serverbench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// The sides, as flags name them.
const (
	OursFlag  = "ours"
	FloorFlag = "floor"
	PeerFlag  = "peer"
)

// AllFlags are all sides.
const AllFlags = OursFlag + "," + FloorFlag + "," + PeerFlag

// ParseSides reads names of sides that are separated by commas.
func ParseSides(text string) ([]string, error) {
	names := strings.Split(text, ",")
	for _, name := range names {
		if !slices.Contains(strings.Split(AllFlags, ","), name) {
			return nil, fmt.Errorf("-sides: expected some of %s, received %q", AllFlags, name)
		}
	}
	return names, nil
}

// Sides are those that take part and are real servers; either may be nil.
type Sides struct{ Ours, Peer *Side }

// FindSides builds our server in the folder, unless there is a program already, and finds out whether the peer is there.
// missing says why it is not.
func FindSides(ctx context.Context, names []string, program, folder string, peer Side) (s Sides, missing, err error) {
	if slices.Contains(names, OursFlag) {
		if program == "" {
			if program, err = BuildOurs(ctx, folder); err != nil {
				return Sides{}, nil, err
			}
		}
		side := Ours(program)
		s.Ours = &side
	}
	if !slices.Contains(names, PeerFlag) {
		return s, nil, nil
	}
	if err := PeerBuilt(); errors.Is(err, ErrNoPeer) {
		return s, err, nil
	} else if err != nil {
		return Sides{}, nil, err
	}
	s.Peer = &peer
	return s, nil, nil
}

// Real are the sides that keep objects, ours first.
func (s Sides) Real() (all []Side) {
	for _, side := range []*Side{s.Ours, s.Peer} {
		if side != nil {
			all = append(all, *side)
		}
	}
	return all
}

// A Contender is a side whose server runs.
type Contender struct {
	Name   string
	Server *Server
}

// StartAll starts servers with their data below a folder. If one does not start, none runs.
func StartAll(ctx context.Context, folder string, sides ...Side) (all []Contender, err error) {
	for _, side := range sides {
		server, err := side.Start(ctx, filepath.Join(folder, side.Name))
		if err != nil {
			return nil, errors.Join(err, StopAll(all))
		}
		all = append(all, Contender{side.Name, server})
	}
	return all, nil
}

// StopAll stops servers.
func StopAll(all []Contender) error {
	var errs []error
	for _, c := range all {
		errs = append(errs, c.Server.Stop())
	}
	return errors.Join(errs...)
}
