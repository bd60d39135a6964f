// Package authtest has an OpenID Connect issuer and webhooks for tests of authentication and authorization.
package authtest

import (
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

// Issuer is an OpenID Connect issuer with one RSA key.
type Issuer struct {
	t      testing.TB
	server *httptest.Server
	key    *rsa.PrivateKey
	// Down makes the issuer respond with 503.
	Down atomic.Bool
}

// NewIssuer starts an issuer for the duration of the test.
func NewIssuer(t testing.TB) *Issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i := &Issuer{t: t, key: key}
	i.server = httptest.NewTLSServer(http.HandlerFunc(i.serve))
	t.Cleanup(i.server.Close)
	return i
}

// URL is the issuer's URL, the claim iss of its tokens.
func (i *Issuer) URL() string { return i.server.URL }

// CA is the CA certificate of the issuer, as PEM.
func (i *Issuer) CA() string { return certificatePEM(i.server) }

// CAFile returns the name of a file with the CA certificate of the issuer.
func (i *Issuer) CAFile() string { return WriteFile(i.t, "issuer.crt", i.CA()) }

func (i *Issuer) serve(w http.ResponseWriter, r *http.Request) {
	if i.Down.Load() {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	var answer any
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		answer = map[string]any{"issuer": i.URL(), "jwks_uri": i.URL() + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"}}
	case "/keys":
		answer = map[string]any{"keys": []any{map[string]any{
			"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "key-1",
			"n": encode(i.key.N.Bytes()), "e": encode(big.NewInt(int64(i.key.E)).Bytes()),
		}}}
	default:
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		i.t.Error(err)
	}
}

// Claims are the claims of a token.
type Claims map[string]any

// With returns the claims with changes. A nil value removes a claim.
func (c Claims) With(changes Claims) Claims {
	all := maps.Clone(c)
	for name, value := range changes {
		if value == nil {
			delete(all, name)
		} else {
			all[name] = value
		}
	}
	return all
}

// Claims returns valid claims for a subject and an audience.
func (i *Issuer) Claims(subject, audience string) Claims {
	now := time.Now()
	return Claims{"iss": i.URL(), "sub": subject, "aud": audience, "iat": now.Add(-time.Minute).Unix(), "exp": now.Add(time.Hour).Unix()}
}

// Token returns a token with the claims, signed with the issuer's key.
func (i *Issuer) Token(c Claims) string {
	return i.TokenWith("RS256", c)
}

// TokenWith returns a token whose header names an algorithm. It is signed with the issuer's private key for RS256, with its public key
// as the shared secret for HS256, and not at all for none.
func (i *Issuer) TokenWith(algorithm string, c Claims) string {
	header, err := json.Marshal(map[string]string{"alg": algorithm, "typ": "JWT", "kid": "key-1"})
	if err != nil {
		i.t.Fatal(err)
	}
	payload, err := json.Marshal(c)
	if err != nil {
		i.t.Fatal(err)
	}
	signed := encode(header) + "." + encode(payload)
	var signature []byte
	switch algorithm {
	case "RS256":
		hash := sha256.Sum256([]byte(signed))
		if signature, err = rsa.SignPKCS1v15(rand.Reader, i.key, crypto.SHA256, hash[:]); err != nil {
			i.t.Fatal(err)
		}
	case "HS256":
		mac := hmac.New(sha256.New, i.key.N.Bytes())
		mac.Write([]byte(signed))
		signature = mac.Sum(nil)
	}
	return signed + "." + encode(signature)
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func certificatePEM(s *httptest.Server) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
}

// WriteFile writes a file in a temporary directory and returns its name.
func WriteFile(t testing.TB, name, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
