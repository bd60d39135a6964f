package serverbench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Values of the -servers flag, which selects the servers to measure.
const (
	CadastreFlag      = "cadastre"
	LowerBoundFlag    = "lower-bound"
	KubeAPIServerFlag = "kube-apiserver"
)

// AllFlags is the value of the -servers flag that selects all servers.
const AllFlags = CadastreFlag + "," + LowerBoundFlag + "," + KubeAPIServerFlag

// ParseImplementations parses the comma-separated value of the -servers flag. It returns an error for an unknown value.
func ParseImplementations(text string) ([]string, error) {
	names := strings.Split(text, ",")
	for _, name := range names {
		if !slices.Contains(strings.Split(AllFlags, ","), name) {
			return nil, fmt.Errorf("-servers: expected one or more of %s, received %q", AllFlags, name)
		}
	}
	return names, nil
}

// Implementations are the selected API servers. Cadastre is nil if it is not selected, and KubeAPIServer is nil if it
// is not selected or not built.
type Implementations struct{ Cadastre, KubeAPIServer *Implementation }

// FindImplementations returns the implementations that names selects. It builds Cadastre in the folder unless program,
// the path of its binary, is set, and checks that the binaries of kube-apiserver and etcd exist. If kube-apiserver is
// selected but not built, missing is the reason.
func FindImplementations(ctx context.Context, names []string, program, folder string, kubeAPIServer Implementation) (s Implementations, missing, err error) {
	if slices.Contains(names, CadastreFlag) {
		if program == "" {
			if program, err = BuildCadastre(ctx, folder); err != nil {
				return Implementations{}, nil, err
			}
		}
		implementation := Cadastre(program)
		s.Cadastre = &implementation
	}
	if !slices.Contains(names, KubeAPIServerFlag) {
		return s, nil, nil
	}
	if err := CheckPrograms(); errors.Is(err, ErrNotBuilt) {
		return s, err, nil
	} else if err != nil {
		return Implementations{}, nil, err
	}
	s.KubeAPIServer = &kubeAPIServer
	return s, nil, nil
}

// APIServers returns the selected servers that store objects, Cadastre first.
func (s Implementations) APIServers() (all []Implementation) {
	for _, implementation := range []*Implementation{s.Cadastre, s.KubeAPIServer} {
		if implementation != nil {
			all = append(all, *implementation)
		}
	}
	return all
}

// RunningServer is a running server with the name of its implementation.
type RunningServer struct {
	Name   string
	Server *Server
}

// StartAll starts servers, each with its data in a subfolder of folder. If one of them fails to start, it stops the
// others and returns the error.
func StartAll(ctx context.Context, folder string, implementations ...Implementation) (all []RunningServer, err error) {
	for _, implementation := range implementations {
		server, err := implementation.Start(ctx, filepath.Join(folder, implementation.Name))
		if err != nil {
			return nil, errors.Join(err, StopAll(all))
		}
		all = append(all, RunningServer{implementation.Name, server})
	}
	return all, nil
}

// StopAll stops all servers and returns their joined errors.
func StopAll(all []RunningServer) error {
	var errs []error
	for _, c := range all {
		errs = append(errs, c.Server.Stop())
	}
	return errors.Join(errs...)
}
