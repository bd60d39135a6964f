package authn

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// serve starts a server whose responses are the authenticated user as JSON, and returns its URL.
func serve(t *testing.T, a *Authority, tokens *Tokens) string {
	t.Helper()
	authenticator := NewAuthenticator(AuthenticatorOptions{Certificates: a.Certificates(), Tokens: tokens})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		response, ok, err := authenticator.AuthenticateRequest(r)
		if err != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		user := Anonymous
		if ok {
			user = response.User
		}
		if r.Header.Get("Authorization") != "" {
			t.Error("the Authorization header was passed to the handler, want it removed")
		}
		w.Header().Set("X-Protocol", r.Proto)
		if err := json.NewEncoder(w).Encode(user); err != nil {
			t.Error(err)
		}
	}))
	server.Config.ErrorLog = nil
	listener := tls.NewListener(server.Listener, a.TLS())
	server.Listener = listener
	server.Config.TLSConfig = a.TLS()
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetHTTP1(true)
	server.Config.Protocols.SetHTTP2(true)
	server.Start()
	t.Cleanup(server.Close)
	return "https://" + listener.Addr().String()
}

// authenticatedUser sends a request with a client configuration. It returns the user that the server has authenticated, and the response.
func authenticatedUser(t *testing.T, config *rest.Config) (*User, *http.Response) {
	t.Helper()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	user := &User{}
	if response.StatusCode == http.StatusOK {
		if err := json.NewDecoder(response.Body).Decode(user); err != nil {
			t.Fatal(err)
		}
	}
	return user, response
}

func TestKubeconfig(t *testing.T) {
	a := open(t, Options{Folder: t.TempDir()})
	address := serve(t, a, nil)
	file := filepath.Join(t.TempDir(), "deep", "kubeconfig")
	for range 2 { // the second call replaces the file
		if err := errors.Join(CheckKubeconfig(file), a.WriteKubeconfig(file, address)); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("kubeconfig: mode = %v, error %v, want 0600", info.Mode(), err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(content)
	if err != nil {
		t.Fatal(err)
	}
	user, response := authenticatedUser(t, config)
	if user.Name != AdminUser || !slices.Equal(user.Groups, []string{MastersGroup, AuthenticatedGroup}) {
		t.Errorf("user of the kubeconfig = %+v, want %s in %s", user, AdminUser, MastersGroup)
	}
	if id := user.Extra["authentication.kubernetes.io/credential-id"]; len(id) != 1 || !strings.HasPrefix(id[0], "X509SHA256=") {
		t.Errorf("user of the kubeconfig = %+v, want a credential-id X509SHA256=…", user)
	}
	if got := response.Header.Get("X-Protocol"); got != "HTTP/2.0" {
		t.Errorf("protocol = %s, want HTTP/2", got)
	}
}

// TestCheckKubeconfig checks that only missing and empty files, and kubeconfigs that cadastre wrote, may be replaced.
func TestCheckKubeconfig(t *testing.T) {
	own, err := open(t, Options{}).Kubeconfig("https://127.0.0.1:6443")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, content string
		may           bool
	}{
		{"written by cadastre", string(own), true},
		{"empty", "\n", true},
		{"another cluster", strings.Replace(string(own), "name: cadastre", "name: work", 1), false},
		{"another user", strings.Replace(string(own), "users:\n", "users:\n- name: me\n  user: {}\n", 1), false},
		{"another context", strings.Replace(string(own), "contexts:\n", "contexts:\n- name: work\n  context: {}\n", 1), false},
		{"other YAML", "a: b\n", false},
		{"no YAML", "{", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "kubeconfig")
			if err := os.WriteFile(file, []byte(test.content), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := CheckKubeconfig(file); (err == nil) != test.may {
				t.Errorf("CheckKubeconfig() = %v; success = %v, want %v, for:\n%s", err, err == nil, test.may, test.content)
			}
		})
	}
}

// TestConfiguredServingCertificate checks that the kubeconfig works if Options.CertFile is a certificate that does not contain
// the host of the server URL.
func TestConfiguredServingCertificate(t *testing.T) {
	for _, names := range [][]string{{"cadastre.example.org"}, {"*.example.org"}, {"localhost"}} {
		key, err := newKey()
		if err != nil {
			t.Fatal(err)
		}
		configured, err := sign(&x509.Certificate{DNSNames: names, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}, key, nil)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "own.pem")
		if err := os.WriteFile(file, configured.encode(), 0o600); err != nil {
			t.Fatal(err)
		}
		a := open(t, Options{CertFile: file, KeyFile: file})
		content, err := a.Kubeconfig(serve(t, a, nil))
		if err != nil {
			t.Fatal(err)
		}
		config, err := clientcmd.RESTConfigFromKubeConfig(content)
		if err != nil {
			t.Fatal(err)
		}
		if user, _ := authenticatedUser(t, config); user.Name != AdminUser {
			t.Errorf("certificate for %v: user of the kubeconfig = %+v, want %s", names, user, AdminUser)
		}
	}
}

// client returns a client configuration without credentials that trusts the authority.
func client(a *Authority, address string) *rest.Config {
	return &rest.Config{Host: address, TLSClientConfig: rest.TLSClientConfig{CAData: a.CA()}}
}

func TestAuthenticateRequest(t *testing.T) {
	other := open(t, Options{Folder: t.TempDir()})
	a := open(t, Options{ClientCAFile: other.path(caCertFile)})
	stranger := open(t, Options{})
	tokens := staticTokens(t, "secret-1,alice,u1,\"dev,ops\"\nsecret-2,bob,u2\n")
	address := serve(t, a, tokens)
	for _, test := range []struct {
		name        string
		certificate *pair
		token       string
		status      int
		user        string
		groups      []string
	}{
		{"no credentials", nil, "", 200, AnonymousUser, []string{UnauthenticatedGroup}},
		{"token", nil, "secret-1", 200, "alice", []string{"dev", "ops", AuthenticatedGroup}},
		{"token without groups", nil, "secret-2", 200, "bob", []string{AuthenticatedGroup}},
		{"wrong token", nil, "secret-3", 401, "", nil},
		{"certificate of our authority", a.admin, "", 200, AdminUser, []string{MastersGroup, AuthenticatedGroup}},
		{"certificate of the other authority", issue(t, other, "carol", "x"), "", 200, "carol", []string{"x", AuthenticatedGroup}},
		{"certificate before token", a.admin, "secret-1", 200, AdminUser, []string{MastersGroup, AuthenticatedGroup}},
		{"certificate and wrong token", a.admin, "secret-3", 200, AdminUser, []string{MastersGroup, AuthenticatedGroup}},
		{"wrong certificate", stranger.admin, "", 401, "", nil},
		{"wrong certificate, good token", stranger.admin, "secret-2", 200, "bob", []string{AuthenticatedGroup}},
		{"wrong certificate, wrong token", stranger.admin, "secret-3", 401, "", nil},
		{"certificate for a server", serverPair(t, a), "", 401, "", nil},
		{"certificate without a name", issue(t, a, ""), "", 200, AnonymousUser, []string{UnauthenticatedGroup}},
	} {
		t.Run(test.name, func(t *testing.T) {
			config := client(a, address)
			config.BearerToken = test.token
			if test.certificate != nil {
				config.CertData, config.KeyData = test.certificate.certPEM, test.certificate.keyPEM
			}
			user, response := authenticatedUser(t, config)
			if response.StatusCode != test.status || user.Name != test.user || !slices.Equal(user.Groups, test.groups) {
				t.Errorf("response = %d, user %+v, want %d, user %s, groups %v", response.StatusCode, user, test.status, test.user, test.groups)
			}
		})
	}
}

// staticTokens returns the tokens of the content of a token file.
func staticTokens(t testing.TB, content string) *Tokens {
	t.Helper()
	tokens := &Tokens{}
	if err := tokens.Reload("tokens.csv", []byte(content)); err != nil {
		t.Fatal(err)
	}
	return tokens
}

// issue creates a client certificate signed by the authority, for a user name and groups.
func issue(t *testing.T, a *Authority, name string, groups ...string) *pair {
	t.Helper()
	p, err := a.newLeaf(&x509.Certificate{
		Subject:     pkix.Name{CommonName: name, Organization: groups},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func serverPair(t *testing.T, a *Authority) *pair {
	t.Helper()
	template := a.servingTemplate()
	template.Subject.CommonName = AdminUser
	p, err := a.newLeaf(template)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestRejectsOldTLS(t *testing.T) {
	a := open(t, Options{})
	address, err := url.Parse(serve(t, a, nil))
	if err != nil {
		t.Fatal(err)
	}
	connection, err := net.Dial("tcp", address.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	old := tls.Client(connection, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11})
	if err := old.HandshakeContext(t.Context()); err == nil {
		t.Error("handshake with TLS 1.1 succeeded, want an error")
	}
}

// certificateUserOf returns the user of the client certificate of a connection; nil if the client sent no certificate.
func certificateUserOf(c *Certificates, connection *tls.ConnectionState) (user.Info, error) {
	response, err := c.authenticate(connection)
	if response == nil {
		return nil, err
	}
	return response.User, err
}

// connection returns the state of a TLS connection whose client sent the certificates peer.
func connection(peer ...*x509.Certificate) *tls.ConnectionState {
	return &tls.ConnectionState{PeerCertificates: peer}
}

func TestCachedCertificateExpires(t *testing.T) {
	now := time.Now()
	a := open(t, Options{Now: func() time.Time { return now }})
	certificates := a.Certificates()
	c := connection(a.admin.certificate)
	for range 2 {
		if user, err := certificateUserOf(certificates, c); err != nil || user.GetName() != AdminUser {
			t.Fatalf("user = %v, error %v, want %s", user, err, AdminUser)
		}
	}
	now = now.Add(leafLifetime + time.Second)
	if user, err := certificateUserOf(certificates, c); err == nil {
		t.Errorf("expired certificate: received user %v, want an error", user)
	}
	now = now.Add(-leafLifetime - time.Hour)
	if user, err := certificateUserOf(certificates, c); err == nil {
		t.Errorf("certificate that is not yet valid: received user %v, want an error", user)
	}
}

func TestCertificateCacheIsBounded(t *testing.T) {
	a := open(t, Options{})
	certificates := a.Certificates()
	for range maxVerified + 10 {
		again := *a.admin.certificate
		if _, err := certificates.authenticate(connection(&again)); err != nil {
			t.Fatal(err)
		}
	}
	count := 0
	certificates.trusted.Load().cache.Range(func(any, any) bool { count++; return true })
	if count > maxVerified || int64(count) != certificates.trusted.Load().count.Load() {
		t.Errorf("the cache contains %d certificates, count = %d; want equal numbers of at most %d", count, certificates.trusted.Load().count.Load(), maxVerified)
	}
}

func TestIntermediateCertificate(t *testing.T) {
	a := open(t, Options{})
	key, err := newKey()
	if err != nil {
		t.Fatal(err)
	}
	middle, err := sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: "middle"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}, key, a.ca)
	if err != nil {
		t.Fatal(err)
	}
	leaf := issue(t, &Authority{ca: middle, options: Options{Now: time.Now}}, "dora").certificate
	if user, err := certificateUserOf(a.Certificates(), connection(leaf)); err == nil {
		t.Errorf("chain without the intermediate certificate: received user %v, want an error", user)
	}
	certificates := a.Certificates()
	user, err := certificateUserOf(certificates, connection(leaf, middle.certificate))
	if err != nil || user.GetName() != "dora" {
		t.Fatalf("user = %v, error %v, want dora", user, err)
	}
	if v, _ := certificates.trusted.Load().cache.Load(leaf); v.(*verification).until.After(middle.certificate.NotAfter) {
		t.Error("the cache entry is valid longer than the intermediate certificate, want at most as long")
	}
}

func TestCertificateUID(t *testing.T) {
	a := open(t, Options{})
	name := func(values ...string) pkix.Name {
		n := pkix.Name{CommonName: "eve"}
		for _, v := range values {
			n.ExtraNames = append(n.ExtraNames, pkix.AttributeTypeAndValue{Type: uidAttribute, Value: v})
		}
		return n
	}
	for _, test := range []struct {
		subject pkix.Name
		want    string
		fails   bool
	}{{name(), "", false}, {name("u1"), "u1", false}, {name("u1", "u2"), "", true}, {name(""), "", true}} {
		p, err := a.newLeaf(&x509.Certificate{Subject: test.subject, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
		if err != nil {
			t.Fatal(err)
		}
		user, err := certificateUserOf(a.Certificates(), connection(p.certificate))
		if (err != nil) != test.fails || user != nil && user.GetUID() != test.want {
			t.Errorf("%v: user = %v, error %v, want uid %q; failed = %v, want %v", test.subject, user, err, test.want, err != nil, test.fails)
		}
	}
}

func TestAuthenticationErrorHasNoToken(t *testing.T) {
	authenticator := NewAuthenticator(AuthenticatorOptions{Certificates: open(t, Options{}).Certificates()})
	request := httptest.NewRequest(http.MethodGet, "/", nil)
	request.TLS = connection(open(t, Options{}).admin.certificate)
	request.Header.Set("Authorization", "Bearer very-secret")
	_, ok, err := authenticator.AuthenticateRequest(request)
	if ok || err == nil || strings.Contains(err.Error(), "very-secret") {
		t.Errorf("AuthenticateRequest() = %v, %v, want an error without the token", ok, err)
	}
}

func BenchmarkAuthenticate(b *testing.B) {
	a := open(b, Options{})
	tokens := staticTokens(b, "0123456789abcdef0123456789abcdef,alice,u1,\"dev,ops\"\n")
	authenticator := NewAuthenticator(AuthenticatorOptions{Certificates: a.Certificates(), Tokens: tokens})
	b.Run("certificate", func(b *testing.B) {
		request := httptest.NewRequest(http.MethodGet, "/", nil)
		request.TLS = connection(a.admin.certificate)
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := authenticator.AuthenticateRequest(request); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("token", func(b *testing.B) {
		request := httptest.NewRequest(http.MethodGet, "/", nil)
		value := []string{"Bearer 0123456789abcdef0123456789abcdef"}
		b.ReportAllocs()
		for b.Loop() {
			request.Header["Authorization"] = value
			if response, _, err := authenticator.AuthenticateRequest(request); err != nil || response.User.GetName() != "alice" {
				b.Fatal(response, err)
			}
		}
	})
}
