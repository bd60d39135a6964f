package serverbench

import (
	"context"
	"os"
	"time"

	"github.com/cadastre/cadastre/test/peers"
)

// KubernetesVersion is the version of the kube-apiserver that Cadastre is compared with.
const KubernetesVersion = peers.KubernetesVersion

// ErrNotBuilt is the error if kube-apiserver or etcd has not been built.
var ErrNotBuilt = peers.ErrNotBuilt

// CheckPrograms returns nil if the binaries of kube-apiserver and etcd exist, and [ErrNotBuilt] if one of them is
// missing.
func CheckPrograms() error {
	for _, program := range []string{peers.Etcd, peers.KubeAPIServer} {
		if _, err := peers.Program(program); err != nil {
			return err
		}
	}
	return nil
}

// KubeAPIServer is the implementation that starts kube-apiserver with etcd, with fsync as in production.
var KubeAPIServer = KubeAPIServerWith()

// KubeAPIServerWith returns KubeAPIServer with additional arguments of kube-apiserver.
func KubeAPIServerWith(args ...string) Implementation {
	return Implementation{"kube-apiserver", func(ctx context.Context, folder string) (*Server, error) {
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
	if s.tls, err = trustingConfig(plane.CA); err != nil {
		plane.Stop()
		return nil, err
	}
	return s, nil
}
