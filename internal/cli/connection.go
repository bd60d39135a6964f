package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/cadastre/cadastre/internal/cli/cluster"
)

// connection holds the flags that select the API server and the user. They are the same as kubectl's.
type connection struct {
	kubeconfig string
	overrides  clientcmd.ConfigOverrides
	userExtras []string
}

// bind adds the connection flags to flags, the flags of a command. It must be called before other flags are added, because
// it hides all but the common connection flags from the help.
func (c *connection) bind(flags *pflag.FlagSet) {
	names := clientcmd.RecommendedConfigOverrideFlags("")
	names.ClusterOverrideFlags.APIServer.ShortName = "s"
	clientcmd.BindOverrideFlags(&c.overrides, flags, names)
	flags.StringArrayVar(&c.userExtras, "as-user-extra", nil, "An extra attribute `KEY=VALUE` of the user to impersonate. Can be repeated.")
	shown := map[string]string{
		"context":   "The `name` of the kubeconfig context.",
		"namespace": "The `name` of the namespace for objects that do not state one. The default is the namespace of the context.",
	}
	flags.VisitAll(func(f *pflag.Flag) {
		if usage := shown[f.Name]; usage != "" {
			f.Usage = usage
		} else {
			f.Hidden = true
		}
	})
	flags.StringVar(&c.kubeconfig, "kubeconfig", "", "The kubeconfig `file`. The default is $KUBECONFIG or ~/.kube/config. kubectl's other connection flags, such as --server, --token and --as, are supported as well.")
}

// checkNamespace returns an error if --namespace is set and differs from the metadata.namespace of m, whose target is t.
func (c *connection) checkNamespace(m manifest, t target) error {
	flag, own := c.overrides.Context.Namespace, m.doc.Lookup("metadata", "namespace").Text()
	if flag == "" || own == "" || flag == own || !t.kind.Namespaced {
		return nil
	}
	return fmt.Errorf("%s: %s: metadata.namespace: expected %q, as set by --namespace, received %q; remove the flag or the field", m.source, t, flag, own)
}

// open returns a client for the API server that the flags select, and the default namespace. It sends no request.
func (c *connection) open() (server *cluster.Cluster, namespace string, err error) {
	if c.overrides.AuthInfo.ImpersonateUserExtra, err = parseExtras(c.userExtras); err != nil {
		return nil, "", err
	}
	config, namespace, err := loadConfig(c.kubeconfig, &c.overrides)
	if err != nil {
		return nil, "", err
	}
	server, err = cluster.Open(config)
	return server, namespace, err
}

// loadConfig loads the file kubeconfig, or the default kubeconfig if that name is "". It returns the client configuration
// and the namespace of its context.
func loadConfig(kubeconfig string, overrides *clientcmd.ConfigOverrides) (config *rest.Config, namespace string, err error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	config, err = loader.ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, "", errors.New("no kubeconfig found; set --kubeconfig or $KUBECONFIG")
	}
	if err == nil {
		namespace, _, err = loader.Namespace()
	}
	if err != nil {
		return nil, "", fmt.Errorf("kubeconfig: %w", err)
	}
	return config, namespace, nil
}

// parseExtras parses the KEY=VALUE pairs of --as-user-extra. A key may be repeated.
func parseExtras(texts []string) (map[string][]string, error) {
	extras := map[string][]string{}
	for _, text := range texts {
		key, value, found := strings.Cut(text, "=")
		if !found || key == "" {
			return nil, &usageError{fmt.Errorf("--as-user-extra: expected KEY=VALUE, received %q", text)}
		}
		extras[key] = append(extras[key], value)
	}
	return extras, nil
}
