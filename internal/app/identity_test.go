package app

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/auth/authnconfig"
	"github.com/cadastre/cadastre/internal/auth/authtest"
	"github.com/cadastre/cadastre/internal/auth/authzconfig"
	"github.com/cadastre/cadastre/internal/lib/testwait"
)

const selfReviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews"

// whoami returns the name of the user of a client, or "" if the client is not authenticated.
func (c *client) whoami() string {
	c.t.Helper()
	response := c.call("POST", selfReviews, "{}")
	if response.code != http.StatusCreated {
		return ""
	}
	return response.get("status", "userInfo", "username")
}

// oidcConfig returns an AuthenticationConfiguration for an issuer, whose users have the prefix oidc:.
func oidcConfig(i *authtest.Issuer) string {
	ca, _ := json.Marshal(i.CA())
	return fmt.Sprintf(`apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
jwt:
- issuer: {url: %q, audiences: [cadastre], certificateAuthority: %s}
  claimMappings:
    username: {claim: sub, prefix: "oidc:"}
    groups: {claim: groups, prefix: "oidc:"}
`, i.URL(), ca)
}

// TestOpenIDConnect checks tokens of an issuer at a running server: rights by the groups of the token, TokenReviews, a reload of the
// configuration, and the metric of the reload.
func TestOpenIDConnect(t *testing.T) {
	i, other := authtest.NewIssuer(t), authtest.NewIssuer(t)
	file := authtest.WriteFile(t, "authentication.yaml", oidcConfig(i))
	c := start(t, Config{Authentication: authnconfig.Options{ConfigFile: file}}, `static,bob,1,"team"`)
	token := i.Token(i.Claims("alice", "cadastre").With(authtest.Claims{"groups": []string{"team"}}))
	alice := c.withToken(token)
	testwait.For(t, "the keys of the issuer", func() bool { return alice.whoami() == "oidc:alice" })
	alice.call("GET", configMaps, "").want(403, `User \"oidc:alice\" cannot list`)
	c.call("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings", `{"metadata":{"name":"b"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"},"subjects":[{"kind":"Group","name":"oidc:team","apiGroup":"rbac.authorization.k8s.io"}]}`).want(201)
	alice.call("GET", configMaps, "").want(200)
	for name, bad := range map[string]string{
		"another audience": i.Token(i.Claims("alice", "x")), "alg none": i.TokenWith("none", i.Claims("alice", "cadastre")),
		"HS256": i.TokenWith("HS256", i.Claims("alice", "cadastre")), "expired": i.Token(i.Claims("alice", "cadastre").With(authtest.Claims{"exp": 1})),
		"unknown issuer": other.Token(other.Claims("alice", "cadastre")), "large": i.Token(i.Claims(strings.Repeat("a", 16<<10), "x")),
	} {
		if got := c.withToken(bad).call("GET", "/version", ""); got.code != 401 {
			t.Errorf("%s: response = %d %s, want 401", name, got.code, got.text)
		}
	}
	huge, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.url+"/version", nil)
	if err != nil {
		t.Fatal(err)
	}
	huge.Header.Set("Authorization", "Bearer "+strings.Repeat("a", 3<<20))
	if response, err := c.withToken("").http.Do(huge); err == nil { // net/http closes the connection
		_ = response.Body.Close()
		if response.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("response to a token of 3 MiB = %d, want 431 or a closed connection", response.StatusCode)
		}
	}

	review := func(token, audiences string) *testResponse {
		return c.call("POST", "/apis/authentication.k8s.io/v1/tokenreviews", `{"spec":{"token":"`+token+`"`+audiences+`}}`).want(201)
	}
	for _, token := range []string{token, "static"} {
		response := review(token, "")
		if response.get("status", "authenticated") != "true" || response.get("status", "audiences", 0) != authnconfig.DefaultAudience {
			t.Errorf("TokenReview = %s, want an authenticated user and the default audience", response.text)
		}
		response = review(token, `,"audiences":["other","`+authnconfig.DefaultAudience+`"]`)
		if response.get("status", "authenticated") != "true" || response.get("status", "audiences") != `["`+authnconfig.DefaultAudience+`"]` {
			t.Errorf("TokenReview with the default audience = %s, want an authenticated user and that audience alone", response.text)
		}
		if response = review(token, `,"audiences":["other"]`); response.get("status", "authenticated") == "true" || strings.Contains(response.text, "username") {
			t.Errorf("TokenReview for another audience = %s, want no user", response.text)
		}
	}
	if response := review(token, ""); response.get("status", "user", "groups") != `["oidc:team","system:authenticated"]` {
		t.Errorf("TokenReview = %s, want the groups oidc:team and system:authenticated", response.text)
	}

	if err := os.WriteFile(file, []byte(oidcConfig(other)), 0o600); err != nil {
		t.Fatal(err)
	}
	testwait.For(t, "the reload", func() bool { return c.withToken(other.Token(other.Claims("eve", "cadastre"))).whoami() == "oidc:eve" })
	alice.call("GET", configMaps, "").want(401)
	c.call("GET", "/metrics", "").want(200, `apiserver_authentication_config_controller_automatic_reloads_total{status="success"} 1`)
}

// TestTokenWebhook checks the webhook for tokens at a running server, and that a TokenReview gives the same result as a request.
func TestTokenWebhook(t *testing.T) {
	h := authtest.NewWebhook(t, func(_ http.ResponseWriter, spec map[string]any) any {
		switch spec["token"] {
		case "good":
			return map[string]any{"authenticated": true, "audiences": spec["audiences"], "user": map[string]any{"username": "alice", "groups": []string{"system:masters"}}}
		case "for-others":
			return map[string]any{"authenticated": true, "audiences": []string{"others"}, "user": map[string]any{"username": "alice"}}
		case "anonymous":
			return map[string]any{"authenticated": true, "user": map[string]any{"username": "system:anonymous"}}
		}
		return map[string]any{"authenticated": false}
	})
	c := start(t, Config{Authentication: authnconfig.Options{Webhook: authnconfig.Webhook{ConfigFile: h.Kubeconfig(), CacheTTL: time.Minute}}}, `static,bob,1`)
	c.withToken("good").call("GET", configMaps, "").want(200)
	c.withToken("bad").call("GET", "/version", "").want(401)
	c.withToken("for-others").call("GET", "/version", "").want(401)
	c.withToken("anonymous").call("GET", configMaps, "").want(403, "system:anonymous")
	if got := c.withToken("static").whoami(); got != "bob" {
		t.Errorf("user of a static token = %q, want bob", got)
	}
	for _, r := range h.Reviews() {
		if r["spec"].(map[string]any)["token"] == "static" {
			t.Error("the webhook has received a static token")
		}
	}
	for token, want := range map[string]string{"good": "true", "bad": "", "for-others": ""} {
		response := c.call("POST", "/apis/authentication.k8s.io/v1/tokenreviews", `{"spec":{"token":"`+token+`"}}`).want(201)
		if got := response.get("status", "authenticated"); got != want {
			t.Errorf("TokenReview of %s = %s, want authenticated %q", token, response.text, want)
		}
	}
	if v := h.Reviews()[0]["apiVersion"]; v != "authentication.k8s.io/v1beta1" {
		t.Errorf("version of the review = %v, want v1beta1, kube-apiserver's default", v)
	}
}

// accessWebhook is a webhook that allows the user alice to read, denies everything about secrets, and fails for the user "failing".
func accessWebhook(t *testing.T) *authtest.Webhook {
	return authtest.NewWebhook(t, func(w http.ResponseWriter, spec map[string]any) any {
		attributes, _ := spec["resourceAttributes"].(map[string]any)
		switch {
		case spec["user"] == "failing":
			w.WriteHeader(http.StatusForbidden)
			return nil
		case attributes["resource"] == "secrets":
			return map[string]any{"allowed": false, "denied": true, "reason": "secrets are secret"}
		case spec["user"] == "alice" && attributes["verb"] == "list":
			return map[string]any{"allowed": true, "reason": "alice may read"}
		}
		return map[string]any{"allowed": false}
	})
}

const accessTokens = `a,alice,1` + "\n" + `b,bob,2` + "\n" + `f,failing,3`

// TestAuthorizationWebhook checks a webhook after RBAC: its permissions, its denials, its errors, and that administrators are not asked.
func TestAuthorizationWebhook(t *testing.T) {
	h := accessWebhook(t)
	c := start(t, Config{Authorization: authzconfig.Options{Modes: []string{"RBAC", "Webhook"}, Webhook: authzconfig.Webhook{ConfigFile: h.Kubeconfig(), AuthorizedTTL: time.Minute, UnauthorizedTTL: time.Minute}}}, accessTokens)
	c.call("GET", "/api/v1/namespaces/default/secrets", "").want(200)
	if got := len(h.Reviews()); got != 0 {
		t.Errorf("the webhook has received %d reviews of an administrator, want none", got)
	}
	alice, bob := c.withToken("a"), c.withToken("b")
	alice.call("GET", configMaps, "").want(200)
	alice.call("GET", configMaps+"/x", "").want(403)
	alice.call("GET", "/api/v1/namespaces/default/secrets", "").want(403, "secrets are secret")
	bob.call("GET", configMaps, "").want(403)
	reviews := len(h.Reviews())
	alice.call("GET", configMaps, "").want(200)
	bob.call("GET", configMaps, "").want(403)
	if got := len(h.Reviews()); got != reviews {
		t.Errorf("reviews of repeated requests = %d, want 0, because they are cached", got-reviews)
	}
	c.withToken("f").call("GET", configMaps, "").want(500)
	review := alice.call("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", `{"spec":{"resourceAttributes":{"namespace":"default","verb":"list","resource":"configmaps"}}}`)
	if review.want(201).get("status", "allowed") != "true" {
		t.Errorf("SelfSubjectAccessReview = %s, want allowed", review.text)
	}
	rules := alice.call("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", `{"spec":{"namespace":"default"}}`)
	if rules.want(201).get("status", "incomplete") != "true" {
		t.Errorf("SelfSubjectRulesReview = %s, want incomplete, because a webhook lists no rules", rules.text)
	}
}

// TestAuthorizationConfig checks an AuthorizationConfiguration: matchConditions, failurePolicy, and its reload.
func TestAuthorizationConfig(t *testing.T) {
	h := accessWebhook(t)
	config := func(policy, conditions string) string {
		return fmt.Sprintf(`apiVersion: apiserver.config.k8s.io/v1
kind: AuthorizationConfiguration
authorizers:
- type: Webhook
  name: access
  webhook:
    authorizedTTL: 1s
    unauthorizedTTL: 1s
    cacheAuthorizedRequests: false
    cacheUnauthorizedRequests: false
    timeout: 3s
    subjectAccessReviewVersion: v1
    matchConditionSubjectAccessReviewVersion: v1
    failurePolicy: %s
    connectionInfo: {type: KubeConfigFile, kubeConfigFile: %q}
    matchConditions: [%s]
- {type: RBAC, name: rbac}
`, policy, h.Kubeconfig(), conditions)
	}
	file := authtest.WriteFile(t, "authorization.yaml", config("NoOpinion", `{expression: "request.user != 'bob'"}`))
	c := start(t, Config{Authorization: authzconfig.Options{ConfigFile: file}}, accessTokens)
	binding := `{"metadata":{"name":"all"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"admin"},"subjects":[` +
		`{"kind":"User","name":"bob","apiGroup":"rbac.authorization.k8s.io"},{"kind":"User","name":"alice","apiGroup":"rbac.authorization.k8s.io"},{"kind":"User","name":"failing","apiGroup":"rbac.authorization.k8s.io"}]}`
	c.call("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings", binding).want(201)
	const secrets = "/api/v1/namespaces/default/secrets"
	alice, bob, failing := c.withToken("a"), c.withToken("b"), c.withToken("f")
	alice.call("GET", secrets, "").want(403, "secrets are secret") // although RBAC, which is later, allows it
	bob.call("GET", secrets, "").want(200)                         // a condition excludes bob
	failing.call("GET", configMaps, "").want(200)                  // the failure of the webhook is ignored
	for _, r := range h.Reviews() {
		if r["spec"].(map[string]any)["user"] == "bob" {
			t.Error("the webhook has received a review of bob, want none because of the condition")
		}
	}
	replace := func(content string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	failures := func(n int) string {
		return fmt.Sprintf(`apiserver_authorization_config_controller_automatic_reloads_total{status="failure"} %d`, n)
	}
	n := 0
	for name, bad := range map[string]string{
		"not YAML": "{", "without RBAC": strings.Split(config("Deny", ""), "- {type: RBAC")[0], "invalid condition": config("Deny", `{expression: "request."}`),
		"unknown type": strings.Replace(config("Deny", ""), "type: RBAC, name: rbac", "type: ABAC, name: abac", 1),
	} {
		replace(bad)
		n++
		testwait.For(t, "the failed reload: "+name, func() bool { return strings.Contains(c.call("GET", "/metrics", "").text, failures(n)) })
		bob.call("GET", secrets, "").want(200)
	}
	replace(config("Deny", ""))
	testwait.For(t, "the reload", func() bool { return bob.call("GET", secrets, "").code == 403 })
	failing.call("GET", configMaps, "").want(500) // as in Kubernetes, a failed webhook with the policy Deny is an internal error
	c.call("GET", secrets, "").want(200)
}

// TestAuthorizationWebhookThatHangs checks that a request does not wait for a webhook longer than the timeout of requests.
func TestAuthorizationWebhookThatHangs(t *testing.T) {
	release := make(chan struct{})
	h := authtest.NewWebhook(t, func(http.ResponseWriter, map[string]any) any { <-release; return nil })
	t.Cleanup(func() { close(release) })
	config := Config{Authorization: authzconfig.Options{Modes: []string{"Webhook", "RBAC"}, Webhook: authzconfig.Webhook{ConfigFile: h.Kubeconfig()}}}
	config.Limits.RequestTimeout = 200 * time.Millisecond
	c := start(t, config, accessTokens)
	began := time.Now()
	c.withToken("a").call("GET", configMaps, "").want(500)
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the response took %v, want about the timeout of 200ms", took)
	}
	c.call("GET", configMaps, "").want(200) // administrators do not wait
}

// testCA is a certificate authority of a test.
type testCA struct {
	t           testing.TB
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newTestCA(t testing.TB, name string) *testCA {
	t.Helper()
	ca := &testCA{t: t}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	pair := ca.issue(template)
	ca.certificate, ca.key = pair.Leaf, pair.PrivateKey.(*ecdsa.PrivateKey)
	return ca
}

// issue returns a certificate for a template with a new key, signed by the authority, or by itself if the authority has no key.
func (ca *testCA) issue(template *x509.Certificate) tls.Certificate {
	ca.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		ca.t.Fatal(err)
	}
	parent, signer := ca.certificate, ca.key
	if signer == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		ca.t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		ca.t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

func (ca *testCA) client(user string) tls.Certificate {
	return ca.issue(&x509.Certificate{
		Subject: pkix.Name{CommonName: user}, SerialNumber: big.NewInt(2), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

func (ca *testCA) serving() (cert, key []byte) {
	pair := ca.issue(&x509.Certificate{
		Subject: pkix.Name{CommonName: "server"}, SerialNumber: big.NewInt(time.Now().UnixNano()), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	})
	der, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		ca.t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

func (ca *testCA) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.certificate.Raw})
}

// withCertificate returns a client with another client certificate that trusts the given CA.
func (c *client) withCertificate(certificate tls.Certificate) *client {
	other := c.withToken("")
	other.http.Transport.(*http.Transport).TLSClientConfig.Certificates = []tls.Certificate{certificate}
	return other
}

// TestReloadTokensAndClientCAs checks that changed files of tokens and client CAs take effect without a restart, also on open
// connections, and that invalid files do not.
func TestReloadTokensAndClientCAs(t *testing.T) {
	first, second := newTestCA(t, "first"), newTestCA(t, "second")
	cas := authtest.WriteFile(t, "clients.crt", string(first.pem()))
	tokens := authtest.WriteFile(t, "tokens.csv", "one,alice,1\n")
	var log lockedBuffer
	c := start(t, Config{ClientCAFile: cas, TokenFile: tokens, Log: slog.New(slog.NewTextHandler(&log, nil))})
	replace := func(file, content string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	one, two := c.withToken("one"), c.withToken("two")
	byFirst, bySecond := c.withCertificate(first.client("carol")), c.withCertificate(second.client("dave"))
	users := func() string {
		bySecond.http.CloseIdleConnections() // a client sends a certificate only if the server has requested its CA in the handshake
		return strings.Join([]string{one.whoami(), two.whoami(), byFirst.whoami(), bySecond.whoami()}, ",")
	}
	if got := users(); got != "alice,,carol," {
		t.Fatalf("users = %s, want alice,,carol,", got)
	}
	replace(tokens, "two,bob,2\n")
	replace(cas, string(second.pem()))
	testwait.For(t, "the new files", func() bool { return users() == ",bob,,dave" })
	replace(tokens, "three")
	replace(cas, "no certificate")
	testwait.For(t, "the errors", func() bool { return strings.Count(log.String(), "reload failed") == 2 })
	if got := users(); got != ",bob,,dave" {
		t.Errorf("users after invalid files = %s, want ,bob,,dave", got)
	}
	if strings.Contains(log.String(), "three") {
		t.Errorf("log = %s, want no tokens", log.String())
	}
	if c.whoami() == "" {
		t.Error("the administrator is not authenticated after the reload of client CAs")
	}
	c.server.Reload()
	testwait.For(t, "the errors of a forced reload", func() bool { return strings.Count(log.String(), "reload failed") == 4 })
}

// TestReloadServingCertificate checks that new connections receive a changed serving certificate, and that a certificate with the key
// of another is not used.
func TestReloadServingCertificate(t *testing.T) {
	ca := newTestCA(t, "serving")
	folder := t.TempDir()
	certFile, keyFile := filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key")
	write := func(file string, content []byte) {
		t.Helper()
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cert, key := ca.serving()
	write(certFile, cert)
	write(keyFile, key)
	var log lockedBuffer
	c := start(t, Config{CertFile: certFile, KeyFile: keyFile, Log: slog.New(slog.NewTextHandler(&log, nil))})
	served := func() []byte {
		t.Helper()
		roots := x509.NewCertPool()
		roots.AddCert(ca.certificate)
		connection, err := tls.Dial("tcp", c.server.address(), &tls.Config{RootCAs: roots})
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
		return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: connection.ConnectionState().PeerCertificates[0].Raw})
	}
	if !bytes.Equal(served(), cert) {
		t.Fatal("the server does not use the configured certificate")
	}
	next, nextKey := ca.serving()
	write(certFile, next)
	testwait.For(t, "the error of a certificate without its key", func() bool { return strings.Contains(log.String(), "reload failed") })
	if !bytes.Equal(served(), cert) {
		t.Error("the server uses a certificate without its key")
	}
	write(keyFile, nextKey)
	testwait.For(t, "the new certificate", func() bool { return bytes.Equal(served(), next) })
}

// TestRefusedCredentialsAreLogged checks that refused credentials are logged, without the token, and that a flood of them is not.
func TestRefusedCredentialsAreLogged(t *testing.T) {
	var log lockedBuffer
	c := start(t, Config{Log: slog.New(slog.NewTextHandler(&log, nil))}, `static,bob,1`)
	stranger := c.withToken("a-wrong-token")
	for range 100 {
		stranger.call("GET", "/version", "").want(401)
	}
	if got := strings.Count(log.String(), "authentication failed"); got != 5 {
		t.Errorf("log lines of 100 refused requests = %d, want 5", got)
	}
	if strings.Contains(log.String(), "a-wrong-token") {
		t.Error("the log contains a token")
	}
}

const signingRequests = "/apis/certificates.k8s.io/v1/certificatesigningrequests"

// signingRequest returns a CertificateSigningRequest and the key of its certificate.
func signingRequest(t *testing.T, name, spec string, subject pkix.Name) (body string, key *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: subject}, key)
	if err != nil {
		t.Fatal(err)
	}
	request := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
	return fmt.Sprintf(`{"apiVersion":"certificates.k8s.io/v1","kind":"CertificateSigningRequest","metadata":{"name":%q},"spec":{"request":%q,%s}}`, name, request, spec), key
}

const clientSigner = `"signerName":"kubernetes.io/kube-apiserver-client","usages":["client auth","digital signature"]`

// approve approves a CertificateSigningRequest.
func (c *client) approve(name string) {
	c.t.Helper()
	c.call("PATCH", signingRequests+"/"+name+"/approval", `{"status":{"conditions":[{"type":"Approved","status":"True","reason":"Test"}]}}`, "Content-Type: "+mergeType).want(200)
}

// TestSigning checks that the server signs approved requests, that the certificate authenticates, and that requests which are not those
// of a client fail.
func TestSigning(t *testing.T) {
	c := start(t, Config{})
	body, key := signingRequest(t, "alice", clientSigner+`,"expirationSeconds":3600`, pkix.Name{CommonName: "alice", Organization: []string{"team"}})
	c.call("POST", signingRequests, body).want(201)
	c.approve("alice")
	var text string
	testwait.For(t, "the certificate", func() bool {
		text = c.call("GET", signingRequests+"/alice", "").want(200).get("status", "certificate")
		return text != ""
	})
	decoded, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(decoded)
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if left := time.Until(certificate.NotAfter); left < 59*time.Minute || left > time.Hour {
		t.Errorf("remaining lifetime = %v, want an hour, as requested", left)
	}
	if certificate.IsCA || certificate.KeyUsage != x509.KeyUsageDigitalSignature {
		t.Errorf("certificate: CA %v, usage %v, want no CA, and digital signature", certificate.IsCA, certificate.KeyUsage)
	}
	alice := c.withCertificate(tls.Certificate{Certificate: [][]byte{block.Bytes}, PrivateKey: key, Leaf: certificate})
	if got := alice.call("POST", selfReviews, "{}").want(201).get("status", "userInfo", "groups"); got != `["team","system:authenticated"]` {
		t.Errorf("groups = %s, want team and system:authenticated", got)
	}

	for name, test := range map[string]struct{ spec, message string }{
		"server":  {`"signerName":"kubernetes.io/kube-apiserver-client","usages":["client auth","server auth"]`, "invalid usage for client certificate: server auth"},
		"nousage": {`"signerName":"kubernetes.io/kube-apiserver-client","usages":["digital signature"]`, "missing required usage for client certificate: client auth"},
		"kubelet": {`"signerName":"kubernetes.io/kube-apiserver-client-kubelet","usages":["client auth","digital signature"]`, "subject organization is not system:nodes"},
	} {
		body, _ := signingRequest(t, name, test.spec, pkix.Name{CommonName: "x", Organization: []string{"team"}})
		c.call("POST", signingRequests, body).want(201)
		c.approve(name)
		testwait.For(t, "the condition Failed of "+name, func() bool {
			response := c.call("GET", signingRequests+"/"+name, "").want(200)
			return response.get("status", "conditions", 1, "type") == "Failed" && response.get("status", "conditions", 1, "message") == test.message &&
				response.get("status", "conditions", 1, "reason") == "SignerValidationFailure"
		})
	}

	body, _ = signingRequest(t, "admin", clientSigner, pkix.Name{CommonName: "x", Organization: []string{"system:masters"}})
	c.call("POST", signingRequests, body).want(403, "use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed")
}

// TestSigningLeavesOthersAlone checks that the server signs neither requests that are not approved, nor those of other signers, nor
// those that another signer has signed.
func TestSigningLeavesOthersAlone(t *testing.T) {
	c := start(t, Config{})
	other, _ := signingRequest(t, "other", `"signerName":"example.com/x","usages":["client auth"]`, pkix.Name{CommonName: "x"})
	waiting, _ := signingRequest(t, "waiting", clientSigner, pkix.Name{CommonName: "x"})
	signed, _ := signingRequest(t, "signed", clientSigner, pkix.Name{CommonName: "x"})
	last, _ := signingRequest(t, "last", clientSigner, pkix.Name{CommonName: "x"})
	for _, body := range []string{other, waiting, signed, last} {
		c.call("POST", signingRequests, body).want(201)
	}
	foreign := base64.StdEncoding.EncodeToString(newTestCA(t, "foreign").pem())
	c.call("PATCH", signingRequests+"/signed/status", `{"status":{"certificate":"`+foreign+`"}}`, "Content-Type: "+mergeType).want(200)
	for _, name := range []string{"other", "signed", "last"} {
		c.approve(name)
	}
	certificate := func(name string) string {
		return c.call("GET", signingRequests+"/"+name, "").want(200).get("status", "certificate")
	}
	testwait.For(t, "the certificate of the last request", func() bool { return certificate("last") != "" })
	if certificate("other") != "" || certificate("waiting") != "" || certificate("signed") != foreign {
		t.Error("the server has signed a request that it must not sign")
	}
}
