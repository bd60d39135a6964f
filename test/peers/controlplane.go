package peers

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"time"
)

// Options configures a control plane. The zero value is suitable for tests.
type Options struct {
	// Durable makes etcd call fsync for every write, as in production. Without it tests are faster, but writes are lost
	// if the machine fails.
	Durable bool
	// Folder is the folder for data, logs and certificates. The default is a temporary folder, which Stop removes.
	Folder string
	// Args are appended to the arguments of kube-apiserver, and override them.
	Args []string
}

// ControlPlane is a running etcd and kube-apiserver, on ports of the loopback address.
type ControlPlane struct {
	Host      string // the address, https://127.0.0.1:PORT
	CA        []byte // the certificate authority in PEM
	Token     string // the bearer token of the user admin in the group system:masters
	EtcdURL   string // the address of etcd for clients, http://127.0.0.1:PORT
	Etcd      *Process
	APIServer *Process

	folder      string
	isTemporary bool
}

// Start starts etcd and kube-apiserver, and returns when kube-apiserver is ready and has created its namespaces. It
// returns [ErrNotBuilt] if a program is not built.
func Start(ctx context.Context, options Options) (*ControlPlane, error) {
	etcd, err := Program(Etcd)
	if err != nil {
		return nil, err
	}
	server, err := Program(KubeAPIServer)
	if err != nil {
		return nil, err
	}
	c := &ControlPlane{folder: options.Folder, Token: rand.Text()}
	if err := c.start(ctx, etcd, server, options); err != nil {
		c.Stop()
		return nil, err
	}
	return c, nil
}

// Stop stops both programs, kube-apiserver first, because it would wait for etcd.
func (c *ControlPlane) Stop() {
	for _, process := range []*Process{c.APIServer, c.Etcd} {
		if process != nil {
			process.stop()
		}
	}
	if c.isTemporary {
		_ = os.RemoveAll(c.folder) // errors are ignored, because the folder is temporary
	}
}

func (c *ControlPlane) start(ctx context.Context, etcd, server string, options Options) (err error) {
	if c.folder == "" {
		if c.folder, err = os.MkdirTemp("", "peers-"); err != nil {
			return err
		}
		c.isTemporary = true
	}
	if c.CA, err = writeCertificates(c.folder); err != nil {
		return err
	}
	user := c.Token + ",admin,admin,system:masters\n"
	if err := writeSecrets(c.folder, map[string][]byte{tokenFile: []byte(user)}); err != nil {
		return err
	}
	ports, err := freePorts(3)
	if err != nil {
		return err
	}
	client, peer, secure := loopback("http", ports[0]), loopback("http", ports[1]), ports[2]
	c.Host, c.EtcdURL = loopback("https", secure), client
	if c.Etcd, err = startProcess(c.folder, etcd, etcdArgs(client, peer, options)); err != nil {
		return err
	}
	if c.APIServer, err = startProcess(c.folder, server, serverArgs(client, secure, options)); err != nil {
		return err
	}
	return c.wait(ctx)
}

const tokenFile = "tokens.csv"

// etcdArgs returns the arguments of etcd. File names in the arguments are relative, because each program runs in the
// folder of the control plane.
func etcdArgs(client, peer string, options Options) []string {
	args := []string{
		"--data-dir=etcd",
		"--listen-client-urls=" + client,
		"--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=default=" + peer,
	}
	if !options.Durable {
		args = append(args, "--unsafe-no-fsync")
	}
	return args
}

func serverArgs(etcd string, port int, options Options) []string {
	return slices.Concat([]string{
		"--etcd-servers=" + etcd,
		"--bind-address=127.0.0.1",
		// Kubernetes 1.37 rejects loopback addresses here. The address appears only in the Endpoints of the kubernetes Service.
		"--advertise-address=192.0.2.1",
		"--secure-port=" + strconv.Itoa(port),
		"--tls-cert-file=" + serverCertificate,
		"--tls-private-key-file=" + serverKey,
		"--token-auth-file=" + tokenFile,
		"--authorization-mode=RBAC",
		// The plugin requires service accounts, which a controller creates that does not run here.
		"--disable-admission-plugins=ServiceAccount",
		"--allow-privileged=true",
		"--service-cluster-ip-range=10.0.0.0/24",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + serviceAccountKey,
		"--service-account-signing-key-file=" + serviceAccountKey,
	}, options.Args)
}

// wait returns when kube-apiserver is ready and the namespace default exists, which kube-apiserver creates some time
// after it is ready. It returns an error if a program exits before that.
func (c *ControlPlane) wait(ctx context.Context) error {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(c.CA)
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: roots},
		DisableKeepAlives: true,
	}}
	for _, path := range []string{"/readyz", "/api/v1/namespaces/default"} {
		for !c.succeeds(ctx, client, path) {
			select {
			case <-c.Etcd.ended:
				return c.Etcd.failure()
			case <-c.APIServer.ended:
				return c.APIServer.failure()
			case <-ctx.Done():
				return fmt.Errorf("kube-apiserver at %s: GET %s did not succeed: %w; end of the log:\n%s", c.Host, path, ctx.Err(), c.APIServer.logTail())
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
	return nil
}

// succeeds reports whether a GET request for path returns status 200.
func (c *ControlPlane) succeeds(ctx context.Context, client *http.Client, path string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Host+path, nil)
	if err != nil {
		return false
	}
	request.Header.Set("Authorization", "Bearer "+c.Token)
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return err == nil && response.StatusCode == http.StatusOK
}

// freePorts returns n different unused ports. It keeps all listeners open until it has found the last port, so that the
// ports differ.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer listener.Close()
		ports = append(ports, listener.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

func loopback(scheme string, port int) string {
	return scheme + "://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}
