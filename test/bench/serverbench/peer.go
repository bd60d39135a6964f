package serverbench

import (
	"context"
	"os"
	"time"

	"github.com/cadastre/cadastre/test/peers"
)

// PeerVersion is the Kubernetes version of the peer.
const PeerVersion = peers.KubernetesVersion

// ErrNoPeer is the error if the peer has not been built.
var ErrNoPeer = peers.ErrNotBuilt

// PeerBuilt returns nil if the peer can be started, and [ErrNoPeer] if its binaries are missing.
func PeerBuilt() error {
	for _, program := range []string{peers.Etcd, peers.KubeAPIServer} {
		if _, err := peers.Program(program); err != nil {
			return err
		}
	}
	return nil
}

// Peer is the side of kube-apiserver with etcd, with fsync as in production.
var Peer = PeerWith()

// PeerWith returns the peer with additional kube-apiserver arguments.
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
	s.URL, s.Ready, s.store, s.token, s.reportsAllocations = plane.Host, ready, plane.Etcd.PID, plane.Token, true
	if s.tls, err = trusting(plane.CA); err != nil {
		plane.Stop()
		return nil, err
	}
	return s, nil
}
