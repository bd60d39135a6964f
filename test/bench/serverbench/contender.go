package serverbench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Names of the sides in flags.
const (
	OursFlag  = "ours"
	FloorFlag = "floor"
	PeerFlag  = "peer"
)

// AllFlags is the flag value that selects all sides.
const AllFlags = OursFlag + "," + FloorFlag + "," + PeerFlag

// ParseSides parses a comma-separated list of sides.
func ParseSides(text string) ([]string, error) {
	names := strings.Split(text, ",")
	for _, name := range names {
		if !slices.Contains(strings.Split(AllFlags, ","), name) {
			return nil, fmt.Errorf("-sides: expected some of %s, received %q", AllFlags, name)
		}
	}
	return names, nil
}

// Sides are the selected API servers; Ours and Peer are nil if they are not selected or, for Peer, not built.
type Sides struct{ Ours, Peer *Side }

// FindSides builds our server in the folder, unless program is set, and looks for the peer's binaries. missing is the
// reason if the peer is selected but not built.
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

// Real returns the sides that store objects, ours first.
func (s Sides) Real() (all []Side) {
	for _, side := range []*Side{s.Ours, s.Peer} {
		if side != nil {
			all = append(all, *side)
		}
	}
	return all
}

// Contender is a side with a running server.
type Contender struct {
	Name   string
	Server *Server
}

// StartAll starts servers with their data below a folder. If one of them fails to start, the others are stopped.
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
