package cli

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/cadastre/cadastre/apiserver"
)

// startServer starts a server with a listener for the duration of the test, and returns its data folder.
func startServer(t *testing.T, options apiserver.Options) string {
	t.Helper()
	options.Directory = t.TempDir()
	s, err := apiserver.New(options)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- s.Run(t.Context()) }()
	t.Cleanup(func() {
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	if err := s.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.WriteKubeconfig(filepath.Join(options.Directory, "kubeconfig")); err != nil {
		t.Fatal(err)
	}
	return options.Directory
}

// TestUserCreate checks that the kubeconfig of a new user authenticates it with its groups and its lifetime, that its file is private,
// and that no CertificateSigningRequest is left.
func TestUserCreate(t *testing.T) {
	data := startServer(t, apiserver.Options{})
	file := filepath.Join(t.TempDir(), "alice.kubeconfig")
	var stdout, stderr bytes.Buffer
	if code := Main([]string{"user", "create", "alice", "--group", "a", "--group", "b,c", "--expiration", "2h", "-n", "shop", "--data", data, "--file", file}, &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	if got := stdout.String(); !strings.HasPrefix(got, file+": user alice in a, b,c, valid until ") {
		t.Errorf("output = %q, want the file, the user and the groups", got)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the kubeconfig = %v, error %v, want 0600", info.Mode(), err)
	}
	config, namespace, err := loadConfig(file, &clientcmd.ConfigOverrides{})
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(config.CertData)
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if left := time.Until(certificate.NotAfter); namespace != "shop" || left < 119*time.Minute || left > 2*time.Hour {
		t.Errorf("namespace %s, remaining lifetime %v, want shop and two hours", namespace, left)
	}
	if got := post(t, config, "/apis/authentication.k8s.io/v1/selfsubjectreviews"); !strings.Contains(got, `"username":"alice"`) || !strings.Contains(got, `"groups":["a","b,c","system:authenticated"]`) {
		t.Errorf("review of the user = %s, want alice with the groups a and b,c", got)
	}
	admin, _, err := loadConfig(filepath.Join(data, "kubeconfig"), &clientcmd.ConfigOverrides{})
	if err != nil {
		t.Fatal(err)
	}
	client, err := rest.HTTPClientFor(admin)
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseIdleConnections()
	response, err := client.Get(admin.Host + "/apis/certificates.k8s.io/v1/certificatesigningrequests")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var list bytes.Buffer
	if _, err := list.ReadFrom(response.Body); err != nil || !strings.Contains(list.String(), `"items":[]`) {
		t.Errorf("requests after the creation = %s, error %v, want none", &list, err)
	}

	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"bob", "--group", "system:masters", "--allow-system"}, 1, "system:masters group is not allowed"},
		{[]string{"bob", "--group", "system:masters"}, 2, "--allow-system accepts them"},
		{[]string{"system:admin"}, 2, "--allow-system accepts them"},
		{[]string{"bob", "--group", ""}, 2, "--group: must not be empty"},
		{[]string{""}, 2, "NAME must not be empty"},
		{[]string{}, 2, "expected one NAME"},
		{[]string{"bob", "--expiration", "1m"}, 2, "--expiration: expected at least 10m0s"},
		{[]string{"bob", "--kubeconfig", "x"}, 2, "--data, --kubeconfig: expected one of them"},
		{[]string{"alice", "--file", file}, 1, "would be overwritten"},
	} {
		stdout.Reset()
		stderr.Reset()
		args := append([]string{"user", "create", "--data", data}, test.args...)
		if len(test.args) > 0 && !strings.Contains(strings.Join(test.args, " "), "--file") {
			args = append(args, "--file", filepath.Join(t.TempDir(), "x"))
		}
		if code := Main(args, &stdout, &stderr); code != test.code || !strings.Contains(stderr.String(), test.want) {
			t.Errorf("%q: exit code %d, %s, want %d and %q", test.args, code, &stderr, test.code, test.want)
		}
	}
}

// post sends an empty object and returns the body of the response.
func post(t *testing.T, config *rest.Config, path string) string {
	t.Helper()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseIdleConnections()
	response, err := client.Post(config.Host+path, "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var body bytes.Buffer
	if _, err := body.ReadFrom(response.Body); err != nil {
		t.Fatal(err)
	}
	return body.String()
}

// TestUserCreateFails checks that the reason of a signer is reported, and that nothing is written then.
func TestUserCreateFails(t *testing.T) {
	const name = "user-x"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		status := ""
		if r.Method == http.MethodGet {
			status = `,"status":{"conditions":[{"type":"Failed","status":"True","message":"no such usage"}]}`
		}
		if _, err := w.Write([]byte(`{"metadata":{"name":"` + name + `"}` + status + `}`)); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	kubeconfig, file := filepath.Join(t.TempDir(), "kubeconfig"), filepath.Join(t.TempDir(), "alice")
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: server.URL}
	config.Contexts["c"] = &clientcmdapi.Context{Cluster: "c"}
	config.CurrentContext = "c"
	if err := clientcmd.WriteToFile(*config, kubeconfig); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	if code := Main([]string{"user", "create", "alice", "--kubeconfig", kubeconfig, "--file", file}, &stdout, &stderr); code != 1 || !strings.Contains(stderr.String(), "CertificateSigningRequest user-x: Failed: no such usage") {
		t.Errorf("exit code %d, %s, want 1 and the reason of the signer", code, &stderr)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a kubeconfig was written, want none")
	}
}
