package authn

import (
	"bytes"
	"crypto/x509"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	clientcmd "k8s.io/client-go/tools/clientcmd/api/v1"
	"sigs.k8s.io/yaml"
)

// kubeconfigName is what the cluster, the user and the context are called.
const kubeconfigName = "cadastre"

// Kubeconfig returns a file for kubectl with which the administrator reaches a server, such as
// https://127.0.0.1:6443. All that is needed is in it.
func (a *Authority) Kubeconfig(server string) ([]byte, error) {
	cluster := clientcmd.Cluster{Server: server, CertificateAuthorityData: a.ServingCA(), TLSServerName: a.ServerName(server)}
	cert, key := a.Admin()
	return yaml.Marshal(clientcmd.Config{
		APIVersion:     "v1",
		Kind:           "Config",
		Clusters:       []clientcmd.NamedCluster{{Name: kubeconfigName, Cluster: cluster}},
		AuthInfos:      []clientcmd.NamedAuthInfo{{Name: kubeconfigName, AuthInfo: clientcmd.AuthInfo{ClientCertificateData: cert, ClientKeyData: key}}},
		Contexts:       []clientcmd.NamedContext{{Name: kubeconfigName, Context: clientcmd.Context{Cluster: kubeconfigName, AuthInfo: kubeconfigName}}},
		CurrentContext: kubeconfigName,
	})
}

// ServingCA returns the certificates, as PEM, by which clients verify the server: the authority's, or else the serving
// certificate of Options.CertFile itself.
func (a *Authority) ServingCA() []byte {
	if a.serving.given != nil {
		return a.serving.given
	}
	return a.CA()
}

// ServerName returns the name that clients must verify in the serving certificate if it does not contain the host of the
// server's URL; "" if it does.
func (a *Authority) ServerName(server string) string {
	if a.serving.given == nil {
		return ""
	}
	return serverName(a.serving.current.Load().Leaf, server)
}

// WriteKubeconfig writes the administrator's kubeconfig to a file that only its owner can read.
func (a *Authority) WriteKubeconfig(name, server string) error {
	content, err := a.Kubeconfig(server)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), folderMode); err != nil {
		return fmt.Errorf("cannot make the folder for the kubeconfig: %w", err)
	}
	if err := writeFile(name, content); err != nil {
		return fmt.Errorf("cannot write the kubeconfig: %w", err)
	}
	return nil
}

// CheckKubeconfig refuses a file that has something else in it than what WriteKubeconfig wrote: whoever keeps the
// contexts of other clusters there would lose them.
func CheckKubeconfig(name string) error {
	content, err := readFile(name)
	if err != nil {
		return fmt.Errorf("cannot read what is in the place of the kubeconfig: %w", err)
	}
	if len(bytes.TrimSpace(content)) == 0 {
		return nil
	}
	var there clientcmd.Config
	if err := yaml.Unmarshal(content, &there); err == nil && isOwn(&there) {
		return nil
	}
	return fmt.Errorf("%s has something else in it than what cadastre wrote, which would be lost; choose another file, or remove this one (KUBECONFIG may name several files, separated by %c)", name, filepath.ListSeparator)
}

// isOwn reports whether all that is in a kubeconfig is called as in ours.
func isOwn(c *clientcmd.Config) bool {
	for _, cluster := range c.Clusters {
		if cluster.Name != kubeconfigName {
			return false
		}
	}
	for _, user := range c.AuthInfos {
		if user.Name != kubeconfigName {
			return false
		}
	}
	for _, context := range c.Contexts {
		if context.Name != kubeconfigName {
			return false
		}
	}
	return len(c.Clusters) > 0
}

// serverName returns the name that a client must expect in a user's certificate, "" if it is that
// which it calls the server.
func serverName(c *x509.Certificate, server string) string {
	at, err := url.Parse(server)
	if err != nil || c.VerifyHostname(at.Hostname()) == nil || len(c.DNSNames) == 0 {
		return ""
	}
	if rest, ok := strings.CutPrefix(c.DNSNames[0], "*."); ok {
		return kubeconfigName + "." + rest
	}
	return c.DNSNames[0]
}
