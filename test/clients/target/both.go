package target

import (
	"context"
	"errors"

	"k8s.io/client-go/rest"

	"github.com/cadastre/cadastre/cadastretest"
)

// StartBoth starts the real server and ours, for commands that ask both the same. The real one is that of the
// kubeconfig, if there is one. No server is left running when there is an error.
func StartBoth(ctx context.Context, kubeconfig string, options ...cadastretest.Option) (theirs, ours *rest.Config, stop func() error, err error) {
	theirs, stopTheirs, err := startKubeAPIServer(ctx, kubeconfig)
	if err != nil {
		return nil, nil, nil, err
	}
	ours, stopOurs, err := cadastretest.Open(options...)
	if err != nil {
		return nil, nil, nil, errors.Join(err, stopTheirs())
	}
	return theirs, ours, func() error { return errors.Join(stopOurs(), stopTheirs()) }, nil
}
