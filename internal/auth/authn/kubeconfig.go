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

// kubeconfigName is the name of the cluster, of the user and of the context in the kubeconfig.
const kubeconfigName = "cadastre"

// Kubeconfig returns the administrator's kubeconfig for a server URL, such as https://127.0.0.1:6443. It embeds the
// certificates and the key, and refers to no other files.
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

// ServingCA returns the certificates, as PEM, with which clients verify the server: the serving certificate itself if
// Options.CertFile is set, otherwise the CA certificate of the authority.
func (a *Authority) ServingCA() []byte {
	if configured := a.serving.configured.Load(); configured != nil {
		return *configured
	}
	return a.CA()
}

// ServerName returns the tls-server-name for clients if the serving certificate does not contain the host of the server URL;
// "" if it contains the host.
func (a *Authority) ServerName(server string) string {
	if a.serving.configured.Load() == nil {
		return ""
	}
	return serverName(a.serving.current.Load().Leaf, server)
}

// WriteKubeconfig writes the administrator's kubeconfig to a file that only the current user can read.
func (a *Authority) WriteKubeconfig(name, server string) error {
	content, err := a.Kubeconfig(server)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), dirMode); err != nil {
		return fmt.Errorf("cannot create the directory of the kubeconfig: %w", err)
	}
	if err := writeFile(name, content); err != nil {
		return fmt.Errorf("cannot write the kubeconfig: %w", err)
	}
	return nil
}

// CheckKubeconfig returns an error if the file exists and was not written by WriteKubeconfig: overwriting it would lose the
// contexts of other clusters.
func CheckKubeconfig(name string) error {
	content, err := readFile(name)
	if err != nil {
		return fmt.Errorf("cannot read the existing kubeconfig: %w", err)
	}
	if len(bytes.TrimSpace(content)) == 0 {
		return nil
	}
	var existing clientcmd.Config
	if err := yaml.Unmarshal(content, &existing); err == nil && isCadastreKubeconfig(&existing) {
		return nil
	}
	return fmt.Errorf("%s: expected no file or a kubeconfig that cadastre wrote, received other content, which would be lost; choose another file, or remove this one (KUBECONFIG may name several files, separated by %c)", name, filepath.ListSeparator)
}

// isCadastreKubeconfig reports whether all clusters, users and contexts of a kubeconfig have the name that Kubeconfig uses.
func isCadastreKubeconfig(c *clientcmd.Config) bool {
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

// serverName returns a DNS name of the serving certificate if the certificate does not contain the host of the server URL; ""
// if it contains the host, or no DNS name.
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
