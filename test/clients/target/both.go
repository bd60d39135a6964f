package target

import (
	"context"
	"errors"

	"k8s.io/client-go/rest"

	"github.com/cadastre/cadastre/cadastretest"
)

// StartBoth starts kube-apiserver and Cadastre, for commands that compare them. kubeconfig may name a running
// kube-apiserver to use instead. After an error no server is running.
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
