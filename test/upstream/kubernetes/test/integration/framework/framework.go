// Package framework starts Cadastre for integration tests.
package framework

import (
	"context"
	"os"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	authorizationcel "k8s.io/apiserver/pkg/authorization/cel"
	"k8s.io/apiserver/pkg/util/webhook"
	authzwebhook "k8s.io/apiserver/plugin/pkg/authorizer/webhook"
	"k8s.io/apiserver/plugin/pkg/authorizer/webhook/metrics"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	server "k8s.io/kubernetes/cmd/kube-apiserver/app/testing"
)

// EtcdMain runs the tests of a package. Cadastre needs no etcd.
func EtcdMain(run func() int) { os.Exit(run()) }

// SharedEtcd returns a Storage without a folder: each server that uses it stores its objects in a new folder.
func SharedEtcd() *server.Storage { return &server.Storage{} }

// TestServerSetup configures a server.
type TestServerSetup struct {
	ModifyServerRunOptions func(*options.ServerRunOptions)
}

// StartTestServer starts a server that a webhook authorizes, and returns a client with all permissions.
func StartTestServer(_ context.Context, t *testing.T, setup TestServerSetup) (kubernetes.Interface, *rest.Config, func()) {
	t.Helper()
	var o options.ServerRunOptions
	setup.ModifyServerRunOptions(&o)
	config, err := webhook.LoadKubeconfig(o.Authorization.WebhookConfigFile, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := authzwebhook.New(config, o.Authorization.WebhookVersion, o.Authorization.WebhookCacheAuthorizedTTL, o.Authorization.WebhookCacheUnauthorizedTTL,
		wait.Backoff{Duration: time.Millisecond, Steps: 1}, authorizer.DecisionDeny, nil, "", metrics.NoopAuthorizerMetrics{}, authorizationcel.NewDefaultCompiler())
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.Start(t, SharedEtcd(), a)
	if err != nil {
		t.Fatal(err)
	}
	return kubernetes.NewForConfigOrDie(s.ClientConfig), s.ClientConfig, s.TearDownFn
}
