package serverbench

import (
	"context"
	"os"
	"time"

	"github.com/cadastre/cadastre/test/peers"
)

// PeerVersion is the release of Kubernetes that the peer is.
const PeerVersion = peers.KubernetesVersion

// ErrNoPeer says that the peer has not been built.
var ErrNoPeer = peers.ErrNotBuilt

// PeerBuilt says why the peer cannot be started: it is [ErrNoPeer] if its programs are not there.
func PeerBuilt() error {
	for _, program := range []string{peers.Etcd, peers.KubeAPIServer} {
		if _, err := peers.Program(program); err != nil {
			return err
		}
	}
	return nil
}

// Peer is kube-apiserver with etcd, durable as in production.
var Peer = PeerWith()

// PeerWith is the peer with more arguments for kube-apiserver.
func PeerWith(args ...string) Side {
	return Side{"kube-apiserver", func(ctx context.Context, folder string) (*Server, error) {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, err
		}
		start := time.Now()
		plane, err := peers.Start(ctx, peers.Options{Durable: true, Folder: folder, Args: args})
		if err != nil {
			return nil, err
		}
		return planeServer(plane, time.Since(start))
	}}
}

func planeServer(plane *peers.ControlPlane, ready time.Duration) (s *Server, err error) {
	s = newServer(plane.APIServer.PID, func() error {
		plane.Stop()
		return nil
	})
	s.URL, s.Ready, s.store, s.token, s.tells = plane.Host, ready, plane.Etcd.PID, plane.Token, true
	if s.tls, err = trusting(plane.CA); err != nil {
		plane.Stop()
		return nil, err
	}
	return s, nil
}
