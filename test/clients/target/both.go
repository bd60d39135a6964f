package target

import (
	"context"
	"errors"

	"k8s.io/client-go/rest"

	"github.com/cadastre/cadastre/cadastretest"
)

// StartBoth starts kube-apiserver and Cadastre, for commands that compare them, and returns their client configs. If
// kubeconfig is not empty, it names a running kube-apiserver that is used instead. If StartBoth fails, no server is
// running.
func StartBoth(ctx context.Context, kubeconfig string, options ...cadastretest.Option) (kubeAPIServer, cadastre *rest.Config, stop func() error, err error) {
	kubeAPIServer, stopKubeAPIServer, err := startKubeAPIServer(ctx, kubeconfig)
	if err != nil {
		return nil, nil, nil, err
	}
	cadastre, stopCadastre, err := cadastretest.Open(options...)
	if err != nil {
		return nil, nil, nil, errors.Join(err, stopKubeAPIServer())
	}
	return kubeAPIServer, cadastre, func() error { return errors.Join(stopCadastre(), stopKubeAPIServer()) }, nil
}
