package cli

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/cadastre/cadastre/internal/cli/cluster"
)

// signingTimeout is the maximum time that a signer has to sign the certificate of a new user.
const signingTimeout = 30 * time.Second

// minExpiration is the minimum lifetime of a certificate that servers accept.
const minExpiration = 10 * time.Minute

func userCommand() *cobra.Command {
	return groupCommand("user", "Create identities for users of the server", userCreateCommand())
}

// newUser is the user that user create creates.
type newUser struct {
	name, file, data string
	groups           []string
	expiration       time.Duration
	allowSystem      bool
	server           connection
}

func userCreateCommand() *cobra.Command {
	var u newUser
	command := &cobra.Command{
		Use:   "create NAME",
		Short: "Create a user with a client certificate, and write its kubeconfig",
		Long: `Create a user with a client certificate, and write its kubeconfig. The certificate is requested, approved and signed through
the API (CertificateSigningRequest), with the rights of the current kubeconfig; the private key of the user is generated here
and never sent. A new user has no rights but those of its groups: grant some with a RoleBinding.

A certificate cannot be revoked before it expires: prefer short lifetimes, or tokens of an OpenID Connect issuer.`,
		Example: `  cadastre user create alice --group shop-developers --data /var/lib/cadastre
  cadastre user create ci --expiration 24h -n shop --file ci.kubeconfig
  cadastre user create alice --file - --server https://cadastre.example.com:6443`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return &usageError{fmt.Errorf("user create: expected one NAME, received %q", args)}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			u.name = args[0]
			if err := u.check(); err != nil {
				return &usageError{err}
			}
			return u.create(c.Context(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	flags := command.Flags()
	u.server.bind(flags)
	flags.StringArrayVar(&u.groups, "group", nil, "A `group` of the user. May be repeated.")
	flags.DurationVar(&u.expiration, "expiration", 0, "The lifetime of the certificate. The default is that of the server, a year; it may sign for a shorter time than requested.")
	flags.StringVar(&u.data, "data", "", "The data `folder` of the server, whose kubeconfig is used. The default is the kubeconfig of kubectl.")
	flags.StringVar(&u.file, "file", "", "The `file` for the user's kubeconfig, which must not exist; - means standard output. The default is NAME.kubeconfig.")
	flags.BoolVar(&u.allowSystem, "allow-system", false, "Accept names and groups that begin with system:, which have rights by themselves.")
	return command
}

// check validates the arguments and sets the default of the file.
func (u *newUser) check() error {
	if u.name == "" {
		return errors.New("user create: NAME must not be empty")
	}
	for _, name := range append([]string{u.name}, u.groups...) {
		switch {
		case name == "":
			return errors.New("--group: must not be empty")
		case strings.HasPrefix(name, "system:") && !u.allowSystem:
			return fmt.Errorf("user create: expected names and groups without the prefix system:, received %q; such identities have rights by themselves, and --allow-system accepts them", name)
		}
	}
	if u.expiration != 0 && u.expiration < minExpiration {
		return fmt.Errorf("--expiration: expected at least %s, received %s", minExpiration, u.expiration)
	}
	if u.data != "" {
		if u.server.kubeconfig != "" {
			return errors.New("--data, --kubeconfig: expected one of them, received both")
		}
		u.server.kubeconfig = filepath.Join(u.data, "kubeconfig")
	}
	if u.file != "" {
		return nil
	}
	u.file = u.name + ".kubeconfig"
	if u.file != filepath.Base(u.file) {
		return fmt.Errorf("--file: expected a file, because the name %q is not that of a file, received none", u.name)
	}
	return nil
}

// create creates the user and writes its kubeconfig.
func (u *newUser) create(ctx context.Context, stdout, stderr io.Writer) error {
	if _, err := os.Lstat(u.file); u.file != "-" && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: expected no file, because it would be overwritten; choose another with --file, or remove it", u.file)
	}
	config, _, err := loadConfig(u.server.kubeconfig, &u.server.overrides)
	if err != nil {
		return err
	}
	server, err := cluster.Open(config)
	if err != nil {
		return err
	}
	key, request, err := newCertificateRequest(u.name, u.groups)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, signingTimeout)
	defer cancel()
	certificate, err := server.IssueClientCertificate(ctx, request, u.expiration)
	if err != nil {
		return err
	}
	content, err := u.kubeconfig(config, certificate, key)
	if err != nil {
		return err
	}
	expiry, err := expiryOf(certificate)
	if err != nil {
		return err
	}
	if u.file == "-" {
		_, err = stdout.Write(content)
		stdout = stderr
	} else {
		err = writeNewFile(u.file, content)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s: user %s%s, valid until %s\n", u.file, u.name, u.groupList(), expiry.UTC().Format(time.RFC3339))
	return err
}

// groupList returns the groups for the output.
func (u *newUser) groupList() string {
	if len(u.groups) == 0 {
		return ""
	}
	return " in " + strings.Join(u.groups, ", ")
}

// newCertificateRequest returns a new private key and a certificate request for it, both as PEM.
func newCertificateRequest(name string, groups []string) (key, request []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: name, Organization: groups}}, private)
	if err != nil {
		return nil, nil, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}), nil
}

// kubeconfig returns the kubeconfig of the user, for the server of config. It refers to no other files.
func (u *newUser) kubeconfig(config *rest.Config, certificate, key []byte) ([]byte, error) {
	if err := rest.LoadTLSFiles(config); err != nil {
		return nil, err
	}
	const name = "cadastre"
	all := clientcmdapi.NewConfig()
	all.Clusters[name] = &clientcmdapi.Cluster{
		Server: config.Host, CertificateAuthorityData: config.CAData, TLSServerName: config.ServerName, InsecureSkipTLSVerify: config.Insecure,
	}
	all.AuthInfos[u.name] = &clientcmdapi.AuthInfo{ClientCertificateData: certificate, ClientKeyData: key}
	all.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: u.name, Namespace: u.server.overrides.Context.Namespace}
	all.CurrentContext = name
	return clientcmd.Write(*all)
}

// expiryOf returns the end of the lifetime of a certificate in PEM.
func expiryOf(certificate []byte) (time.Time, error) {
	block, _ := pem.Decode(certificate)
	if block == nil {
		return time.Time{}, errors.New("the signed certificate is not PEM")
	}
	parsed, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return time.Time{}, fmt.Errorf("the signed certificate: %w", err)
	}
	return parsed.NotAfter, nil
}

// writeNewFile writes a file that only its owner can read. It fails if the file exists.
func writeNewFile(name string, content []byte) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Close())
}
